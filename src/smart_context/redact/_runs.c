/* What `runs` does for each run of digits: find those in a stretch of numbers that may be a telephone number or a card.

   In: folded text, and stretches of it.  Out: where runs stand, each with where the run before it ends.
   Always: the answer is that of `runs.py`, which does the same where this could not be compiled. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { LEAST_OF_TELEPHONE = 6, LEAST_OF_CARD = 13, MOST_IN_GROUP = 19, BEFORE_FIRST = 3, SIGNS = 3, BEFORE_WORD = 4, WINDOW = 48 };

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t end; /* nothing at or behind it is read, but for what stands after a number */
} Text;

/* The character at a place, or 0 where none is. */
static inline Py_UCS4 at(const Text *text, Py_ssize_t place)
{
    return place >= 0 && place < text->end ? PyUnicode_READ(text->kind, text->data, place) : 0;
}

static inline int is_digit(Py_UCS4 c)
{
    return c < 0x80 ? c >= '0' && c <= '9' : Py_UNICODE_ISDECIMAL(c);
}

static inline int is_plain_digit(Py_UCS4 c)
{
    return c >= '0' && c <= '9';
}

static inline int is_word(Py_UCS4 c)
{
    return is_plain_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline int is_one_of(Py_UCS4 c, const char *some)
{
    return c && c < 0x80 && strchr(some, (int)c) != NULL;
}

/* Behind up to `most` of some characters. */
static inline Py_ssize_t behind(const Text *text, Py_ssize_t place, const char *some, int most)
{
    for (; most && is_one_of(at(text, place), some); most--)
        place++;
    return place;
}

/* Whether a run may begin there: in no word, and not behind the point of a decimal number. */
static inline int may_begin(const Text *text, Py_ssize_t place)
{
    Py_UCS4 before = at(text, place - 1);
    return !is_word(before) && !(is_one_of(before, ".,") && is_digit(at(text, place - 2)));
}

/* Behind a line break of a run, and what may stand around it; -1 where there is none. `around` of them may be on either side. */
static Py_ssize_t behind_break(const Text *text, Py_ssize_t place, int before, int after)
{
    place = behind(text, place, " \t", before);
    place += at(text, place) == '\r';
    return at(text, place) == '\n' ? behind(text, place + 1, " \t", after) : -1;
}

/* `runs._SEPARATOR`: where the next group of digits begins, or -1. What separates holds no digit, so that it can end in one place only. */
static Py_ssize_t next_of_telephone(const Text *text, Py_ssize_t place)
{
    Py_ssize_t spaces = behind(text, place, " ", 2), next = behind_break(text, behind(text, spaces, ")./-", 1), 4, 8);
    if (next >= 0) {
        if (is_one_of(at(text, next), "(-.")) /* perhaps with a space after it */
            next = behind(text, next + 1, " ", 1);
        if (is_digit(at(text, next)))
            return next;
    }
    next = behind(text, spaces, "()./-", 3);
    next = next > spaces ? behind(text, next, " ", 2) : spaces;
    return next > place && is_digit(at(text, next)) ? next : -1;
}

/* `runs.TELEPHONE`: where the run ends that begins there, or -1. */
static Py_ssize_t end_of_telephone(const Text *text, Py_ssize_t place)
{
    if (!may_begin(text, place))
        return -1;
    if (at(text, place) == '+')
        place = behind(text, behind(text, place + 1, " ", 1), "(", 1);
    else if (at(text, place) == '(')
        place = behind(text, place + 1, "+", 1);
    if (!is_digit(at(text, place)))
        return -1;
    for (;;) {
        while (is_digit(at(text, place)))
            place++;
        Py_ssize_t next = next_of_telephone(text, place);
        if (next < 0)
            return place;
        place = next;
    }
}

/* Whether digits begin with a plus, or a line of them with a zero before another digit. */
static int may_begin_as_one(const Text *text, Py_ssize_t start, Py_ssize_t end)
{
    for (Py_ssize_t place = start; place < end && place < start + SIGNS; place++)
        if (at(text, place) == '+')
            return 1;
    for (int is_first = 1; start < end; start++, is_first = 0) {
        if (!is_first && at(text, start - 1) != '\n')
            continue;
        while (start < end && !is_digit(at(text, start)))
            start++;
        if (start + 1 < end && at(text, start) == '0' && is_digit(at(text, start + 1)))
            return 1;
    }
    return 0;
}

/* Where the next group of a card begins, or -1: at least two digits behind what may stand between groups. */
static Py_ssize_t next_of_card(const Text *text, Py_ssize_t place)
{
    Py_ssize_t next = behind_break(text, behind(text, place, " \t", 1), 0, 1);
    if (next < 0 && at(text, place) == '.')
        next = place + 1;
    else if (next < 0) {
        next = behind(text, place, " ", 1);
        next = at(text, next) == '-' ? behind(text, next + 1, " ", 1) : behind(text, place, " ", 2);
    }
    return next > place && is_digit(at(text, next)) && is_digit(at(text, next + 1)) ? next : -1;
}

/* `runs.CARD`: where the run ends that begins there, or -1. Where a group of too many digits ends it, those that begin at the groups before that fail as well:
   `begin` goes there, so that no text is read again and again. */
static Py_ssize_t end_of_card(const Text *text, Py_ssize_t *begin)
{
    Py_ssize_t place = *begin, group = place, next;
    if (!may_begin(text, place) || !is_digit(at(text, place)) || !is_digit(at(text, place + 1)))
        return -1;
    for (;; group = place = next) {
        for (int count = 0; count < MOST_IN_GROUP && is_digit(at(text, place)); count++)
            place++;
        if ((next = next_of_card(text, place)) >= 0)
            continue;
        if (!is_digit(at(text, place)))
            return place;
        *begin = group > *begin ? group - 1 : *begin;
        return -1;
    }
}

static Py_ssize_t plain_digits(const Text *text, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t count = 0;
    for (; start < end; start++)
        count += is_plain_digit(at(text, start));
    return count;
}

static int put(PyObject *found, Py_ssize_t since, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *run = Py_BuildValue("(nnn)", since, start, end);
    int failed = !run || PyList_Append(found, run) < 0;
    Py_XDECREF(run);
    return failed ? -1 : 0;
}

/* Read the arguments that both have: a text, where the last run ended, and a stretch. */
static int read_stretch(PyObject *args, const char *form, Text *text, Py_ssize_t *before, Py_ssize_t *first, Py_ssize_t *last, int *every)
{
    PyObject *string;
    if (!PyArg_ParseTuple(args, form, &string, before, first, last, every))
        return -1;
    text->kind = PyUnicode_KIND(string);
    text->data = PyUnicode_DATA(string);
    text->end = PyUnicode_GET_LENGTH(string);
    if (*before < 0 || *first < 0 || *last < *first || *last > text->end) {
        PyErr_SetString(PyExc_ValueError, "no stretch of the text");
        return -1;
    }
    text->end = *last;
    return 0;
}

static PyObject *telephones(PyObject *self, PyObject *args)
{
    Text text;
    Py_ssize_t before, first, last, start, end;
    int every;
    if (read_stretch(args, "Unnnp", &text, &before, &first, &last, &every) < 0)
        return NULL;
    PyObject *found = PyList_New(0);
    for (start = before > first - BEFORE_FIRST ? before : first - BEFORE_FIRST; found && start < last; start++) {
        if (start < 0 || (end = end_of_telephone(&text, start)) < 0)
            continue;
        int is_at_end = before <= first || end > last - BEFORE_WORD;
        if (end - start >= LEAST_OF_TELEPHONE && (every || is_at_end || may_begin_as_one(&text, start, end)) && put(found, before, start, end) < 0)
            Py_CLEAR(found);
        before = end;
        start = end - 1;
    }
    return found ? Py_BuildValue("(Nn)", found, before) : NULL;
}

static PyObject *cards(PyObject *self, PyObject *args)
{
    Text text;
    Py_ssize_t before, first, last, start, end;
    if (read_stretch(args, "Unnn", &text, &before, &first, &last, NULL) < 0)
        return NULL;
    PyObject *found = PyList_New(0);
    for (start = first; found && start < last; start++) {
        if ((end = end_of_card(&text, &start)) < 0)
            continue;
        if (end - start >= LEAST_OF_CARD && plain_digits(&text, start, end) >= LEAST_OF_CARD && put(found, before, start, end) < 0)
            Py_CLEAR(found);
        before = end;
        start = end - 1;
    }
    return found ? Py_BuildValue("(Nn)", found, before) : NULL;
}

/* `phones._LEADS`: whether a plus stands there, or a zero that begins a number. */
static int has_lead(const Text *text, Py_ssize_t start, Py_ssize_t end)
{
    for (; start < end; start++) {
        Py_UCS4 c = at(text, start);
        if (c == '+')
            return 1;
        if (c != '0' || start + 1 == end || !is_digit(at(text, start + 1)) || is_digit(at(text, start - 1)))
            continue;
        if (!(is_one_of(at(text, start - 1), ".,") && is_digit(at(text, start - 2))))
            return 1;
    }
    return 0;
}

/* Whether a word may stand there that announces a number: before it, one that begins with two of the letters `before` (in pairs), or anything beyond ASCII; or
   after it, one that begins with one of the letters `after`. */
static int may_be_said(const Text *low, Py_ssize_t start, Py_ssize_t end, const char *between, const char *before, const char *after)
{
    Py_ssize_t since = start > WINDOW ? start - WINDOW : 0, last = start, word;
    for (word = since; word < start; word++)
        if (at(low, word) >= 0x80)
            return 1;
    while (last > since && is_one_of(at(low, last - 1), between))
        last--;
    for (word = last; word > since && at(low, word - 1) >= 'a' && at(low, word - 1) <= 'z';)
        word--;
    if (word == last) { /* behind another sign */
        if (last > since && !is_plain_digit(at(low, last - 1)))
            return 1;
    } else {
        Py_UCS4 one = at(low, word), two = word + 1 < last ? at(low, word + 1) : ' ';
        for (; before[0] && before[1]; before += 2)
            if ((Py_UCS4)before[0] == one && (two == ' ' || (Py_UCS4)before[1] == two))
                return 1;
    }
    end = behind(low, behind(low, behind(low, end, " ", 1), "([,-/", 1), " ", 1);
    return is_one_of(at(low, end), after);
}

static PyObject *worth(PyObject *self, PyObject *args)
{
    PyObject *string, *lowered, *numbers;
    const char *between, *before, *after;
    Py_ssize_t first, last;
    if (!PyArg_ParseTuple(args, "UUOsss", &string, &lowered, &numbers, &between, &before, &after))
        return NULL;
    Text text = {PyUnicode_KIND(string), PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)};
    Text low = {PyUnicode_KIND(lowered), PyUnicode_DATA(lowered), PyUnicode_GET_LENGTH(lowered)};
    PyObject *all = PySequence_Fast(numbers, "a list of stretches is expected");
    PyObject *found = all ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; found && i < PySequence_Fast_GET_SIZE(all); i++) {
        PyObject *stretch = PySequence_Fast_GET_ITEM(all, i);
        if (!PyArg_ParseTuple(stretch, "nn", &first, &last) || first < 0 || last < first || last > text.end) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "no stretch of the text");
            Py_CLEAR(found);
            break;
        }
        Py_ssize_t digit = last;
        while (digit > first && !is_plain_digit(at(&text, digit - 1)))
            digit--;
        Py_ssize_t end = text.end;
        text.end = last;
        int is_worth = has_lead(&text, first > BEFORE_FIRST ? first - BEFORE_FIRST : 0, last);
        text.end = end;
        if ((is_worth || may_be_said(&low, first, digit, between, before, after)) && PyList_Append(found, stretch) < 0)
            Py_CLEAR(found);
    }
    Py_XDECREF(all);
    return found;
}

static PyMethodDef methods[] = {
    {"worth", worth, METH_VARARGS, "The stretches in which a telephone number may stand."},
    {"telephones", telephones, METH_VARARGS, "The runs of a stretch that may be telephone numbers, and where the last run ends."},
    {"cards", cards, METH_VARARGS, "The runs of a stretch that may be cards, and where the last run ends."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_runs", "What `runs` does for each run of digits.", -1, methods};

PyMODINIT_FUNC PyInit__runs(void)
{
    return PyModule_Create(&module);
}
