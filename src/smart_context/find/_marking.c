/* What `marking` does for each token of a text: tell by its first letters whether it may be a hit, and say of each that is one where it stands.

   In: a text, and how tokens that are hits begin; or such tokens, and what is known of each.  Out: its tokens in ASCII that may be hits, each with where it begins; and its runs without
       spaces that are not in ASCII, which are left to Python; or hits.
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

/* A hit: where a token begins and ends, and what is known of it. */
static PyObject *hit_of(PyTypeObject *kind, PyObject *start, PyObject *token, PyObject *known)
{
    Py_ssize_t at = PyLong_AsSsize_t(start);
    PyObject *end = at == -1 && PyErr_Occurred() ? NULL : PyLong_FromSsize_t(at + PyUnicode_GET_LENGTH(token));
    PyObject *hit = end ? kind->tp_alloc(kind, 4) : NULL;
    if (!hit) {
        Py_XDECREF(end);
        return NULL;
    }
    PyTuple_SET_ITEM(hit, 0, Py_NewRef(start));
    PyTuple_SET_ITEM(hit, 1, end);
    PyTuple_SET_ITEM(hit, 2, Py_NewRef(PyTuple_GET_ITEM(known, 0)));
    PyTuple_SET_ITEM(hit, 3, Py_NewRef(PyTuple_GET_ITEM(known, 1)));
    return hit;
}

static int is_of(PyObject *object, Py_ssize_t size)
{
    return PyTuple_Check(object) && PyTuple_GET_SIZE(object) == size;
}

static PyObject *marked(PyObject *self, PyObject *arguments)
{
    PyObject *found, *met, *kind;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyList_Type, &found, &PyDict_Type, &met, &PyType_Type, &kind))
        return NULL;
    int is_wrong = !PyType_IsSubtype((PyTypeObject *)kind, &PyTuple_Type);
    PyObject *out = PyList_New(0);
    for (Py_ssize_t at = 0; out && !is_wrong && at < PyList_GET_SIZE(found); at++) {
        PyObject *pair = PyList_GET_ITEM(found, at), *known = NULL;
        is_wrong = !is_of(pair, 2) || !PyUnicode_Check(PyTuple_GET_ITEM(pair, 1)) || !(known = PyDict_GetItemWithError(met, PyTuple_GET_ITEM(pair, 1)));
        if (is_wrong || known == Py_None)
            continue;
        if ((is_wrong = !is_of(known, 2)))
            break;
        PyObject *hit = hit_of((PyTypeObject *)kind, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1), known);
        if (!hit || PyList_Append(out, hit) < 0)
            Py_CLEAR(out);
        Py_XDECREF(hit);
    }
    if (is_wrong) {
        Py_CLEAR(out);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "tokens that were looked at are wanted");
    }
    return out;
}

static PyMethodDef methods[] = {
    {"marked", marked, METH_VARARGS, "The hits among tokens, each with where it begins, by what is known of each."},
    {"tokens", tokens, METH_VARARGS, "The tokens in ASCII that may be hits, each with where it begins, and the runs that are not in ASCII."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_marking", "What `marking` does for each token.", -1, methods};

PyMODINIT_FUNC PyInit__marking(void)
{
    fill_tables();
    return PyModule_Create(&module);
}
