/* What `explained` does for each line of a text: tell those that begin an entry, which are few, by what `explained._BEGINS` and `_is_entry` say.

   In: a text.  Out: the names that its entries begin with, in their order, or the terms of these.
   Always: the answers are those of `explained.py`, which does the same where this could not be compiled. A line is looked at once, and the few behind
   it that decide whether it is explained. A line break stands behind the text, though it is not there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The words of `explained._DECLARES`, in front and behind, and `_STATEMENTS`. */
static const char *const qualifies[] = {"public", "private", "protected", "static", "final", "abstract", "async", "export", "unsigned", "extern",
                                        "inline", "virtual", "const", NULL};
static const char *const declares[] = {"class", "def", "function", "func", "fn", "exception", "method", "classmethod", "staticmethod", "interface",
                                       "struct", "enum", "type", "trait", "module", "macro", "sub", "proc", "attribute", "awaitable", "coroutine",
                                       "decorator", "void", "int", "char", "long", "bool", "float", "double", "size_t", "ssize_t", "gboolean", "gint",
                                       "guint", "gchar", NULL};
static const char *const statements[] = {"if", "while", "for", "return", "switch", "elif", "except", "catch", "print", "assert", "with", "and", "or",
                                         "not", "in", "is", "new", "delete", "throw", "raise", "yield", "await", "sizeof", "super", "self", NULL};
static const char *const begins_code[] = {"async ", "def ", "class ", NULL};
enum { LONGEST = 12, PROSE = 4, TOGETHER = 20, MORE_PARTS = 7, LEAST_DIRECTIVE = 2, MOST_DIRECTIVE = 20, MAX_TERM = 64, MOST = 100 };

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

static Py_ssize_t after_blanks(const Text *text, Py_ssize_t place)
{
    while (is_blank(at(text, place)))
        place++;
    return place;
}

/* The first letters of some words, a bit each: what begins with another one, as most words do, is none of them. */
static uint32_t first_of(const char *const *words)
{
    uint32_t first = 0;
    for (; *words; words++)
        first |= 1u << (**words - 'a');
    return first;
}

static uint32_t first_qualifies, first_declares, first_states;

/* Whether what stands between two places is one of some words. */
static int is_one_of(const Text *text, Py_ssize_t start, Py_ssize_t end, const char *const *words, uint32_t first)
{
    char own[LONGEST + 1];
    Py_UCS4 begins = at(text, start);
    if (end - start > LONGEST || begins < 'a' || begins > 'z' || !(first >> (begins - 'a') & 1))
        return 0;
    for (Py_ssize_t place = start; place < end; place++) {
        Py_UCS4 c = at(text, place);
        if (c > 127)
            return 0;
        own[place - start] = (char)c;
    }
    own[end - start] = 0;
    for (; *words; words++)
        if (**words == own[0] && !strcmp(own, *words))
            return 1;
    return 0;
}

/* The next line break; where the text ended before, its end. */
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
        if (end > text->length)
            return may_end && !line;
        for (Py_ssize_t one = begin; one < end; one++)
            spaces += at(text, one) == ' ';
        if (spaces && at(text, end - 1) != ')')
            return spaces >= PROSE;
        begin = end + 1;
    }
    return 0;
}

/* Behind `explained._DECLARES`, and blanks before it; 0 where nothing is declared. */
static Py_ssize_t after_declaring(const Text *text, Py_ssize_t place)
{
    Py_ssize_t start = after_blanks(text, place), end;
    while (end = after_word(text, start), at(text, end) == ' ' && is_one_of(text, start, end, qualifies, first_qualifies))
        for (start = end; at(text, start) == ' ';)
            start++;
    if (end == start) { /* a directive: small letters and colons, two of these at the end */
        if (at(text, start) != '.' || at(text, start + 1) != '.' || at(text, start + 2) != ' ')
            return 0;
        for (end = start += 3; at(text, end) == ':' || (at(text, end) >= 'a' && at(text, end) <= 'z');)
            end++;
        if (end - 2 - start < LEAST_DIRECTIVE || end - 2 - start > MOST_DIRECTIVE || at(text, end - 1) != ':' || at(text, end - 2) != ':')
            return 0;
        if (!is_blank(at(text, end)) && at(text, end) != '*')
            return 0;
    } else if (at(text, end) != '*' && !(at(text, end) == ' ' && at(text, end + 1) == '*')) {
        if (!is_blank(at(text, end)) || !is_one_of(text, start, end, declares, first_declares))
            return 0;
    }
    while (is_blank(at(text, end)) || at(text, end) == '*')
        end++;
    return end;
}

/* What may begin an entry: a name, and what follows it. */
typedef struct {
    Py_ssize_t start, end, behind; /* the name, and the place behind what follows it */
    Py_UCS4 sign;                  /* what follows: a bracket or another sign behind a blank at most, or a line break */
    int is_option, is_odd, is_close;  /* it begins with two dashes; it is written as no plain word is; nothing stands before the sign */
} Begun;

/* `explained._NAME` and what may follow; 0 where it is no such line. */
static int begin_at(const Text *text, Py_ssize_t place, Begun *begun)
{
    Py_UCS4 c, last = 0;
    *begun = (Begun){.start = place};
    if (at(text, place) == '-' && at(text, place + 1) == '-' && is_letter(at(text, place + 2)) && at(text, place + 2) != '_') {
        begun->is_option = 1;
        while (is_word(at(text, place)) || at(text, place) == '-')
            place++;
    } else if (is_letter(at(text, place))) {
        for (int parts = 0;; parts++) {
            for (; is_word(c = at(text, place)); place++, last = c)
                begun->is_odd |= c == '_' || (c >= 'A' && c <= 'Z' && last >= 'a' && last <= 'z');
            Py_ssize_t next = c == '.' || c == '-' ? place + 1 : c == ':' && at(text, place + 1) == ':' ? place + 2 : 0;
            if (!next || parts == MORE_PARTS || !is_letter(at(text, next)))
                break;
            begun->is_odd = 1;
            last = 0;
            place = next;
        }
    } else {
        return 0;
    }
    begun->end = place;
    Py_ssize_t sign = place + is_blank(at(text, place));
    begun->sign = at(text, sign);
    begun->is_close = sign == place;
    begun->behind = sign + 1;
    switch (begun->sign) {
    case '(': /* a section of the manual is no bracket of an entry */
        c = at(text, sign + 1);
        if (c < '0' || c > '9')
            return 1;
        return at(text, sign + 2) != ')' && !(is_word(at(text, sign + 2)) && at(text, sign + 3) == ')');
    case '=': case '<': case '[':
        return 1;
    default:
        begun->behind = after_blanks(text, place);
        begun->sign = '\n';
        return at(text, begun->behind) == '\n';
    }
}

/* `explained._is_signature`. */
static int is_signature(const Text *text, Py_ssize_t place)
{
    for (int depth = 1; depth; place++) {
        Py_UCS4 c = at(text, place);
        if (c == '\n' || c == '\t')
            return c == '\n';
        depth += (c == '(') - (c == ')');
    }
    place = after_blanks(text, place);
    Py_UCS4 c = at(text, place);
    if (c == '-' && at(text, place + 1) == '>')
        return 1;
    return at(text, c == ':' || c == '{' || c == 0xB6 ? after_blanks(text, place + 1) : place) == '\n';
}

/* Whether code that is decorated follows the line of a place. `*run` is where lines that decorate end, as far as that is known: none is looked at twice. */
static int decorates(const Text *text, Py_ssize_t place, Py_ssize_t *run)
{
    Py_ssize_t start = line_end(text, place) + 1;
    if (start > *run)
        for (*run = start; *run < text->length && at(text, *run) == '@';)
            *run = line_end(text, *run) + 1;
    for (const char *const *one = begins_code; *one; one++) {
        Py_ssize_t at_code = after_blanks(text, *run), length = 0;
        while ((*one)[length] && at(text, at_code + length) == (Py_UCS4)(*one)[length])
            length++;
        if (!(*one)[length])
            return 1;
    }
    return 0;
}

/* `explained._is_entry`. declared: what stands before it declares it; decorating: it stands behind an @. */
static int is_entry(const Text *text, const Begun *begun, int declared, int decorating, Py_ssize_t *run)
{
    int is_call = begun->sign == '(' && begun->is_close;
    if (begun->is_option)
        return !is_call;
    Py_ssize_t first = begun->start;
    while (first < begun->end && at(text, first) != '.')
        first++;
    if (is_one_of(text, begun->start, first, statements, first_states))
        return 0;
    if (!declared && !decorating && ((!is_call && !begun->is_odd) || !goes_on(text, begun->behind, begun->sign == '(' && !begun->is_close)))
        return 0;
    if (decorating && decorates(text, begun->behind, run))
        return 0;
    return begun->sign == '\n' || (begun->sign == '(' && is_signature(text, begun->behind));
}

typedef struct {
    Text text;
    Py_ssize_t line, run; /* the next line, and what `decorates` knows */
} Lines;

static int begin(Lines *lines, PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is needed");
        return -1;
    }
    *lines = (Lines){{PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)}, 0, -1};
    return 0;
}

/* The next line that begins an entry; 0 where there is none. */
static int next_entry(Lines *lines, Begun *begun)
{
    const Text *text = &lines->text;
    while (lines->line <= text->length) {
        Py_ssize_t start = lines->line, behind = after_declaring(text, start);
        int declared = behind && begin_at(text, behind, begun), decorating = 0;
        lines->line = line_end(text, start) + 1;
        if (!declared && at(text, start) == '@') {
            Py_ssize_t end = after_word(text, start + 1);
            decorating = end > start + 1 && at(text, end) == '.' && begin_at(text, start + 1, begun);
        }
        if ((declared || decorating || begin_at(text, start, begun)) && is_entry(text, begun, declared, decorating, &lines->run))
            return 1;
    }
    return 0;
}

static PyObject *names(PyObject *self, PyObject *argument)
{
    Lines lines;
    Begun begun;
    PyObject *found = begin(&lines, argument) < 0 ? NULL : PyList_New(0);
    while (found && next_entry(&lines, &begun)) {
        PyObject *name = PyUnicode_Substring(argument, begun.start, begun.end);
        if (!name || PyList_Append(found, name) < 0)
            Py_CLEAR(found);
        Py_XDECREF(name);
    }
    return found;
}

/* Put `explained._joined` of what stands between two places behind what a term begins with, as a key; -1 without memory. */
static int add_term(PyObject *terms, const Text *text, Py_ssize_t start, Py_ssize_t end, const char *before)
{
    char term[MAX_TERM + 8];
    size_t length = strlen(before), kept = length;
    memcpy(term, before, length);
    for (; start < end && kept < length + MAX_TERM; start++) {
        Py_UCS4 c = at(text, start);
        if (is_word(c) && c != '_')
            term[kept++] = (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
    }
    if (kept == length)
        return 0;
    PyObject *made = PyUnicode_FromStringAndSize(term, (Py_ssize_t)kept);
    int told = made ? PyDict_SetItem(terms, made, Py_None) : -1;
    Py_XDECREF(made);
    return told;
}

/* `explained.of`, of a name in ASCII. */
static int add_terms(PyObject *terms, const Text *text, const Begun *begun)
{
    if (begun->is_option)
        return add_term(terms, text, begun->start, begun->end, "^--");
    Py_ssize_t last = begun->end;
    while (last > begun->start && at(text, last - 1) != '.' && at(text, last - 1) != ':')
        last--;
    int told = add_term(terms, text, begun->start, begun->end, "^");
    return told < 0 || last == begun->start ? told : add_term(terms, text, last, begun->end, "^");
}

static int is_ascii(const Text *text, Py_ssize_t start, Py_ssize_t end)
{
    while (start < end && at(text, start) < 128)
        start++;
    return start == end;
}

static PyObject *terms(PyObject *self, PyObject *argument)
{
    Lines lines;
    Begun begun;
    PyObject *found = begin(&lines, argument) < 0 ? NULL : PyDict_New();
    while (found && next_entry(&lines, &begun)) {
        if (!is_ascii(&lines.text, begun.start, begun.end)) {
            Py_DECREF(found);
            Py_RETURN_NONE;
        }
        if (add_terms(found, &lines.text, &begun) < 0)
            Py_CLEAR(found);
        else if (PyDict_GET_SIZE(found) > MOST) {
            Py_DECREF(found);
            return PyList_New(0);
        }
    }
    PyObject *all = found ? PyDict_Keys(found) : NULL;
    Py_XDECREF(found);
    return all;
}

static PyMethodDef methods[] = {
    {"names", names, METH_O, "The names that the entries of a text begin with."},
    {"terms", terms, METH_O, "The terms of what a text explains, each once; None where one is left to Python."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_explained", "What `explained` does for each line.", -1, methods};

PyMODINIT_FUNC PyInit__explained(void)
{
    first_qualifies = first_of(qualifies);
    first_declares = first_of(declares);
    first_states = first_of(statements);
    return PyModule_Create(&module);
}
