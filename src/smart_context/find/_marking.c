/* What `marking` does for each token of a text: tell by its first letters whether it may be a hit.

   In: a text, and how tokens that are hits begin.  Out: its tokens in ASCII that may be hits, each with where it begins; and its runs without spaces that are not in ASCII, which are left
       to Python.
   Always: no token that is a hit is left out; which of them are hits is told by `marking.py`. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { ASCII = 128 };

typedef struct {
    const char *letters;
    Py_ssize_t size;
} Front;

/* Fronts by their first letter: those of a letter stand from its place in `first` to that of the next. */
typedef struct {
    Front *every;
    Py_ssize_t first[ASCII + 1];
} Fronts;

static char is_letter[ASCII], is_digit[ASCII], is_upper[ASCII], lower[ASCII];

static void fill_tables(void)
{
    for (int c = 0; c < ASCII; c++) {
        is_upper[c] = c >= 'A' && c <= 'Z';
        is_digit[c] = c >= '0' && c <= '9';
        is_letter[c] = is_upper[c] || (c >= 'a' && c <= 'z');
        lower[c] = (char)(is_upper[c] ? c + 'a' - 'A' : c);
    }
}

/* The first letter of a front; none of ASCII where it is not in ASCII, or empty. */
static int first_letter(PyObject *front)
{
    return PyUnicode_IS_ASCII(front) && PyUnicode_GET_LENGTH(front) ? PyUnicode_1BYTE_DATA(front)[0] : ASCII;
}

/* Put the fronts that are in ASCII in order of their first letters; the others begin no token in ASCII. */
static int read_fronts(PyObject *given, Fronts *fronts)
{
    Py_ssize_t size = PyTuple_GET_SIZE(given);
    memset(fronts, 0, sizeof *fronts);
    fronts->every = PyMem_New(Front, size + 1);
    if (!fronts->every) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t at = 0; at < size; at++) {
        if (!PyUnicode_Check(PyTuple_GET_ITEM(given, at))) {
            PyErr_SetString(PyExc_TypeError, "letters are wanted");
            return -1;
        }
    }
    Py_ssize_t place[ASCII + 1] = {0};
    for (Py_ssize_t at = 0; at < size; at++)
        place[first_letter(PyTuple_GET_ITEM(given, at))]++;
    for (int letter = 0; letter < ASCII; letter++)
        fronts->first[letter + 1] = fronts->first[letter] + place[letter];
    memcpy(place, fronts->first, sizeof place);
    for (Py_ssize_t at = 0; at < size; at++) {
        PyObject *one = PyTuple_GET_ITEM(given, at);
        int letter = first_letter(one);
        if (letter < ASCII)
            fronts->every[place[letter]++] = (Front){(const char *)PyUnicode_1BYTE_DATA(one), PyUnicode_GET_LENGTH(one)};
    }
    return 0;
}

/* A text's characters, whatever their width. */
typedef struct {
    int kind;
    const void *data;
    Py_ssize_t length;
} Text;

static Py_UCS4 char_at(const Text *text, Py_ssize_t at)
{
    return PyUnicode_READ(text->kind, text->data, at);
}

static int begins_so(const Text *text, Py_ssize_t start, Py_ssize_t end, const Fronts *fronts)
{
    int first = lower[char_at(text, start)];
    for (Py_ssize_t i = fronts->first[first]; i < fronts->first[first + 1]; i++) {
        const Front *front = fronts->every + i;
        Py_ssize_t at = 1;
        if (front->size > end - start)
            continue;
        while (at < front->size && lower[char_at(text, start + at)] == front->letters[at])
            at++;
        if (at == front->size)
            return 1;
    }
    return 0;
}

/* Whether a token in ASCII may be a hit: what has letters and digits, or is in several cases, is known by its parts too, each of which begins somewhere in it. */
static int may_be(const Text *text, Py_ssize_t start, Py_ssize_t end, const Fronts *fronts)
{
    Py_ssize_t letters = 0, uppers = 0;
    for (Py_ssize_t at = start; at < end; at++) {
        letters += is_letter[char_at(text, at)];
        uppers += is_upper[char_at(text, at)];
    }
    int is_number = !letters, is_word = letters == end - start;
    int is_in_one_case = !uppers || uppers == letters || (uppers == 1 && is_upper[char_at(text, start)]);
    if (is_number || (is_word && is_in_one_case))
        return begins_so(text, start, end, fronts);
    while (start < end && !begins_so(text, start, end, fronts))
        start++;
    return start < end;
}

static int keep_token(PyObject *found, PyObject *plain, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *pair = Py_BuildValue("(nN)", start, PyUnicode_Substring(plain, start, end));
    int done = pair ? PyList_Append(found, pair) : -1;
    Py_XDECREF(pair);
    return done;
}

static int keep_run(PyObject *odd, PyObject *plain, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *run = PyUnicode_Substring(plain, start, end);
    int done = run ? PyList_Append(odd, run) : -1;
    Py_XDECREF(run);
    return done;
}

/* The tokens of a run in ASCII. */
static int read_run(PyObject *plain, const Text *text, Py_ssize_t at, Py_ssize_t end, const Fronts *fronts, PyObject *found)
{
    while (at < end) {
        Py_UCS4 c = char_at(text, at);
        Py_ssize_t start = at++;
        if (!is_letter[c] && !is_digit[c])
            continue;
        while (at < end && (c = char_at(text, at), is_letter[c] || is_digit[c]))
            at++;
        if (may_be(text, start, at, fronts) && keep_token(found, plain, start, at) < 0)
            return -1;
    }
    return 0;
}

static int read_text(PyObject *plain, const Fronts *fronts, PyObject *found, PyObject *odd)
{
    Text text = {(int)PyUnicode_KIND(plain), PyUnicode_DATA(plain), PyUnicode_GET_LENGTH(plain)};
    if (PyUnicode_IS_ASCII(plain))
        return read_run(plain, &text, 0, text.length, fronts, found);
    for (Py_ssize_t at = 0; at < text.length;) {
        if (Py_UNICODE_ISSPACE(char_at(&text, at))) {
            at++;
            continue;
        }
        Py_ssize_t start = at;
        Py_UCS4 seen = 0;
        for (Py_UCS4 c; at < text.length && (c = char_at(&text, at), !Py_UNICODE_ISSPACE(c)); at++)
            seen |= c;
        int done = seen < ASCII ? read_run(plain, &text, start, at, fronts, found) : keep_run(odd, plain, start, at);
        if (done < 0)
            return -1;
    }
    return 0;
}

static PyObject *tokens(PyObject *self, PyObject *arguments)
{
    PyObject *plain, *given, *out = NULL;
    Fronts fronts;
    if (!PyArg_ParseTuple(arguments, "UO!", &plain, &PyTuple_Type, &given))
        return NULL;
    PyObject *found = PyList_New(0), *odd = PyList_New(0);
    fronts.every = NULL;
    if (found && odd && read_fronts(given, &fronts) == 0 &&
        (!PyTuple_GET_SIZE(given) || read_text(plain, &fronts, found, odd) == 0))
        out = PyTuple_Pack(2, found, odd);
    PyMem_Free(fronts.every);
    Py_XDECREF(found);
    Py_XDECREF(odd);
    return out;
}

static PyMethodDef methods[] = {
    {"tokens", tokens, METH_VARARGS, "The tokens in ASCII that may be hits, each with where it begins, and the runs that are not in ASCII."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_marking", "What `marking` does for each token.", -1, methods};

PyMODINIT_FUNC PyInit__marking(void)
{
    fill_tables();
    return PyModule_Create(&module);
}
