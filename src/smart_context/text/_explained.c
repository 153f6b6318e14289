/* What `explained` does for each line of a text: pass over those that begin no entry, which are nearly all.

   In: a text that begins and ends with a line break.  Out: the places of the line breaks behind which an entry may begin.
   Always: every line that `explained` takes for the beginning of an entry is among them; it decides. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

/* First words of `explained._DECLARES`, by their first letters. */
static const char *const declares[26][9] = {
    {"abstract", "async", "attribute", "awaitable"},
    {"bool"},
    {"const", "class", "classmethod", "char", "coroutine"},
    {"def", "double", "decorator"},
    {"export", "extern", "exception", "enum"},
    {"final", "function", "func", "fn", "float"},
    {"gboolean", "gint", "guint", "gchar"},
    {NULL},
    {"inline", "int", "interface"},
    {NULL},
    {NULL},
    {"long"},
    {"method", "module", "macro"},
    {NULL},
    {NULL},
    {"public", "private", "protected", "proc"},
    {NULL},
    {NULL},
    {"static", "staticmethod", "struct", "sub", "size_t", "ssize_t"},
    {"type", "trait"},
    {"unsigned"},
    {"virtual", "void"},
};
enum { LONGEST = 12, PROSE = 4, TOGETHER = 20 };

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t length;
} Text;

static Py_UCS4 at(const Text *text, Py_ssize_t place)
{
    return place < text->length ? PyUnicode_READ(text->kind, text->data, place) : '\n';
}

static int is_letter(Py_UCS4 c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_word(Py_UCS4 c)
{
    return c < 128 ? is_letter(c) || (c >= '0' && c <= '9') : Py_UNICODE_ISALNUM(c);
}

static int is_blank(Py_UCS4 c)
{
    return c == ' ' || c == '\t';
}

static Py_ssize_t after_word(const Text *text, Py_ssize_t place)
{
    while (is_word(at(text, place)))
        place++;
    return place;
}

/* Behind a name: words that dots, colons or dashes join. is_odd: whether it is written as no plain word is. */
static Py_ssize_t after_name(const Text *text, Py_ssize_t place, int *is_odd)
{
    *is_odd = 0;
    for (;; *is_odd = 1) {
        Py_UCS4 last = 0, c;
        for (; is_word(c = at(text, place)); place++, last = c)
            *is_odd |= c == '_' || (c >= 'A' && c <= 'Z' && last >= 'a' && last <= 'z');
        Py_ssize_t next = c == '.' || c == '-' ? place + 1 : c == ':' && at(text, place + 1) == ':' ? place + 2 : 0;
        if (!next || !is_letter(at(text, next)))
            return place;
        place = next;
    }
}

static Py_ssize_t line_end(const Text *text, Py_ssize_t place)
{
    if (text->kind == PyUnicode_1BYTE_KIND && place < text->length) {
        const char *start = text->data, *found = memchr(start + place, '\n', (size_t)(text->length - place));
        return found ? found - start : text->length;
    }
    while (place < text->length && at(text, place) != '\n')
        place++;
    return place;
}

/* `explained._goes_on`: whether a sentence follows the line of a place, behind further names at most. may_end: or the text ends with that line. */
static int goes_on(const Text *text, Py_ssize_t place, int may_end)
{
    Py_ssize_t begin = line_end(text, place) + 1;
    for (int line = 0; line < TOGETHER; line++) {
        Py_ssize_t end = line_end(text, begin), spaces = 0;
        if (end >= text->length)
            return may_end && !line;
        for (Py_ssize_t one = begin; one < end; one++)
            spaces += at(text, one) == ' ';
        if (spaces && at(text, end - 1) != ')')
            return spaces >= PROSE;
        begin = end + 1;
    }
    return 0;
}

static int may_declare(const Text *text, Py_ssize_t start)
{
    Py_ssize_t end = after_word(text, start);
    if (end == start) /* the name of what it declares has small letters and colons */
        return at(text, start) == '.' && at(text, start + 1) == '.' && at(text, start + 2) == ' ' &&
               (at(text, start + 3) == ':' || (at(text, start + 3) >= 'a' && at(text, start + 3) <= 'z'));
    if (at(text, end) == '*' || (at(text, end) == ' ' && at(text, end + 1) == '*'))
        return 1;
    Py_UCS4 first = at(text, start);
    if (end - start > LONGEST || first < 'a' || first > 'z' || !declares[first - 'a'][0])
        return 0;
    char word[LONGEST + 1];
    for (Py_ssize_t place = start; place < end; place++) {
        Py_UCS4 c = at(text, place);
        if (c > 127)
            return 0;
        word[place - start] = (char)c;
    }
    word[end - start] = 0;
    for (const char *const *one = declares[first - 'a']; *one; one++)
        if (!strcmp(word, *one))
            return 1;
    return 0;
}

static int may_begin(const Text *text, Py_ssize_t start)
{
    Py_ssize_t place = start;
    while (is_blank(at(text, place)))
        place++;
    if (place > start)
        return may_declare(text, place);
    Py_UCS4 first = at(text, start);
    if (first == '@')
        return 1;
    if (first == '-' && at(text, start + 1) == '-')
        return is_letter(at(text, start + 2)) && at(text, start + 2) != '_';
    if (is_letter(first)) {
        int is_odd;
        Py_ssize_t end = after_name(text, start, &is_odd);
        if (at(text, end) == '(')
            return goes_on(text, end, 1);
        while (is_odd && is_blank(at(text, end)))
            end++;
        if (is_odd && (at(text, end) == '(' || at(text, end) == '\n') && goes_on(text, end, 1))
            return 1;
    }
    return may_declare(text, start);
}

static PyObject *begins(PyObject *self, PyObject *argument)
{
    if (!PyUnicode_Check(argument))
        return PyErr_Format(PyExc_TypeError, "a text is needed");
    Text text = {PyUnicode_KIND(argument), PyUnicode_DATA(argument), PyUnicode_GET_LENGTH(argument)};
    PyObject *found = PyList_New(0);
    if (!found)
        return NULL;
    for (Py_ssize_t place = line_end(&text, 0); place + 1 < text.length; place = line_end(&text, place + 1)) {
        if (!may_begin(&text, place + 1))
            continue;
        PyObject *number = PyLong_FromSsize_t(place);
        if (!number || PyList_Append(found, number) < 0) {
            Py_XDECREF(number);
            Py_DECREF(found);
            return NULL;
        }
        Py_DECREF(number);
    }
    return found;
}

static PyObject *sentence_follows(PyObject *self, PyObject *arguments)
{
    PyObject *given;
    Py_ssize_t place;
    int may_end;
    if (!PyArg_ParseTuple(arguments, "Unp", &given, &place, &may_end))
        return NULL;
    if (place < 0)
        return PyErr_Format(PyExc_ValueError, "no place of the text");
    Text text = {PyUnicode_KIND(given), PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given)};
    return PyBool_FromLong(place < text.length && goes_on(&text, place, may_end));
}

static PyMethodDef methods[] = {
    {"begins", begins, METH_O, "The places of the line breaks behind which an entry may begin."},
    {"goes_on", sentence_follows, METH_VARARGS, "Whether a sentence follows the line of a place, or the text ends with it where it may."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_explained", "What `explained` does for each line.", -1, methods};

PyMODINIT_FUNC PyInit__explained(void)
{
    return PyModule_Create(&module);
}
