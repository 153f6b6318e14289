/* A text with plain quotes, dashes and spaces, for `_passage.c`: as `words.plainly` has it, but for what Unicode's own tables must say.

   In: a text.  Out: the same with plain characters; whether NFKC would change nothing more of it; whether no character but those of ASCII is a capital.
   Always: a text of which either is said is so. What a character is in NFKC, Unicode promises to keep. */

enum { NORMAL = 1, LOWERED = 2 };

/* Characters that NFKC keeps, whatever stands beside them, and which of them `str.lower` keeps. */
static const struct {
    Py_UCS4 first, last;
    int is;
} kept[] = {
    {0x00A1, 0x00A7, NORMAL | LOWERED}, {0x00A9, 0x00A9, NORMAL | LOWERED}, {0x00AB, 0x00AE, NORMAL | LOWERED}, {0x00B0, 0x00B1, NORMAL | LOWERED},
    {0x00B6, 0x00B7, NORMAL | LOWERED}, {0x00BB, 0x00BB, NORMAL | LOWERED}, {0x00BF, 0x00BF, NORMAL | LOWERED}, {0x00C0, 0x00DE, NORMAL},
    {0x00DF, 0x00FF, NORMAL | LOWERED}, {0x0100, 0x0131, NORMAL},           {0x0134, 0x013E, NORMAL},           {0x0141, 0x0148, NORMAL},
    {0x014A, 0x017E, NORMAL},           {0x0391, 0x03A1, NORMAL},           {0x03A3, 0x03CE, NORMAL},           {0x0400, 0x0482, NORMAL},
    {0x048A, 0x052F, NORMAL},           {0x05D0, 0x05EA, NORMAL | LOWERED}, {0x0621, 0x063A, NORMAL | LOWERED}, {0x0641, 0x064A, NORMAL | LOWERED},
    {0x2018, 0x201F, NORMAL | LOWERED}, {0x2020, 0x2022, NORMAL | LOWERED}, {0x2190, 0x21FF, NORMAL | LOWERED}, {0x2500, 0x27BF, NORMAL | LOWERED},
    {0x3001, 0x3029, NORMAL | LOWERED}, {0x3030, 0x3035, NORMAL | LOWERED}, {0x3041, 0x3096, NORMAL | LOWERED}, {0x309D, 0x309E, NORMAL | LOWERED},
    {0x30A0, 0x30FE, NORMAL | LOWERED}, {0x3400, 0x4DBF, NORMAL | LOWERED}, {0x4E00, 0x9FFF, NORMAL | LOWERED}, {0xAC00, 0xD7A3, NORMAL | LOWERED},
};

static unsigned char kept_in[0x10000]; /* the same for each character of the first plane */

static void fill_kept(void)
{
    for (size_t at = 0; at < sizeof kept / sizeof *kept; at++)
        for (Py_UCS4 c = kept[at].first; c <= kept[at].last; c++)
            kept_in[c] = (unsigned char)kept[at].is;
    memset(kept_in, NORMAL | LOWERED, 128);
}

/* The plain character in the place of one: those of `words._PLAIN`, and the full width ones of NFKC; else itself. */
static inline Py_UCS4 plain_of(Py_UCS4 c)
{
    switch (c) {
    case 0x2018: case 0x2019:
        return '\'';
    case 0x201C: case 0x201D: case 0x2013: case 0x2014: case 0x2026: case 0xA0: case 0x2022: case 0x3000:
        return ' ';
    default:
        return c >= 0xFF01 && c <= 0xFF5E ? c - 0xFEE0 : c;
    }
}

static PyObject *plain(PyObject *self, PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is expected");
        return NULL;
    }
    int kind = (int)PyUnicode_KIND(text), is = NORMAL | LOWERED;
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_UCS4 all = 0, changed = 0;
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, at);
        if (c < 128)
            continue;
        Py_UCS4 other = plain_of(c);
        changed |= c ^ other;
        all |= other;
        is &= other < sizeof kept_in ? kept_in[other] : 0;
    }
    if (!changed)
        return Py_BuildValue("(OOO)", text, is & NORMAL ? Py_True : Py_False, is & LOWERED ? Py_True : Py_False);
    PyObject *made = PyUnicode_New(length, all > 0x10FFFF ? 0x10FFFF : all < 127 ? 127 : all);
    if (!made)
        return NULL;
    int to_kind = (int)PyUnicode_KIND(made);
    void *to = PyUnicode_DATA(made);
    for (Py_ssize_t at = 0; at < length; at++)
        PyUnicode_WRITE(to_kind, to, at, plain_of(PyUnicode_READ(kind, data, at)));
    return Py_BuildValue("(NOO)", made, is & NORMAL ? Py_True : Py_False, is & LOWERED ? Py_True : Py_False);
}

static PyObject *is_wide(PyObject *self, PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is expected");
        return NULL;
    }
    return PyBool_FromLong(PyUnicode_KIND(text) == PyUnicode_4BYTE_KIND);
}
