/* Whether `tame` has nothing to do for a page, told in one walk over its tags.

   In: markup as it was found.  Out: whether no tag has too many attributes and no element lies too deep.
   Always: True only where `tame.py`, which does the same where this could not be compiled, leaves the markup as it is. False says nothing: it is
   also the answer to a page that has so many tags within tags that looking at each would take long. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { DEEPEST = 400, MOST_FORMATTING = 16, MOST_ATTRIBUTES = 256, LOOKS = 8 };

enum { OTHER, VOID, FORMATTING, SLOTS = 128, LONGEST_NAME = 6 };

static const char FORMATTING_NAMES[] = "a b big code em font i nobr s small span strike strong tt u";
static const char VOID_NAMES[] = "area base br col embed hr img input link meta param source track wbr";

static struct {
    uint64_t name; /* its bytes, the first lowest */
    int kind;
} kinds[SLOTS];

static unsigned slot_of(uint64_t name)
{
    unsigned slot = (unsigned)(name * 0x9E3779B97F4A7C15u >> 57);
    while (kinds[slot].name && kinds[slot].name != name)
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void fill_kinds(const char *names, int kind)
{
    uint64_t name = 0;
    for (int length = 0;; names++) {
        if (*names && *names != ' ') {
            name |= (uint64_t)*names << 8 * length++;
            continue;
        }
        unsigned slot = slot_of(name);
        kinds[slot].name = name;
        kinds[slot].kind = kind;
        if (!*names)
            return;
        name = 0;
        length = 0;
    }
}

/* Bytes of a page: letters with their case taken away, and what ends a name or a value. */
enum { SPACE = 1, MAYBE_SPACE = 2, SLASH = 4, GREATER = 8, EQUAL = 16 };
static unsigned char lower[256], marks[256];

static void fill_bytes(void)
{
    for (int letter = 'a'; letter <= 'z'; letter++)
        lower[letter] = lower[letter - 'a' + 'A'] = (unsigned char)letter;
    for (int byte = 0; byte < 128; byte++)
        marks[byte] = Py_UNICODE_ISSPACE(byte) ? SPACE : 0;
    for (int byte = 0xC2; byte < 0xF0; byte++) /* no white space lies beyond two bytes of UTF-16 */
        marks[byte] = MAYBE_SPACE;
    marks['/'] = SLASH;
    marks['>'] = GREATER;
    marks['='] = EQUAL;
}

typedef struct {
    const unsigned char *end;
    const unsigned char *unclosed[2]; /* from where on there is no double, no single quote */
} Page;

/* How many bytes of white space stand here, 0 for none. */
static int space(const Page *page, const unsigned char *at)
{
    if (at == page->end || !(marks[*at] & (SPACE | MAYBE_SPACE)))
        return 0;
    if (marks[*at] & SPACE)
        return 1;
    Py_UCS4 character = *at < 0xE0 ? (*at & 0x1Fu) << 6 | (at[1] & 0x3Fu) : (*at & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return Py_UNICODE_ISSPACE(character) ? *at < 0xE0 ? 2 : 3 : 0;
}

static const unsigned char *over_spaces(const Page *page, const unsigned char *at)
{
    for (int length; (length = space(page, at));)
        at += length;
    return at;
}

/* The first of some bytes, or white space, at or after a place. */
static const unsigned char *up_to(const Page *page, const unsigned char *at, int which)
{
    while (at < page->end && (!marks[*at] || !(marks[*at] & which || space(page, at))))
        at++;
    return at;
}

/* The end of an attribute's value, from the equals sign on. */
static const unsigned char *over_value(Page *page, const unsigned char *at)
{
    at = over_spaces(page, at + 1);
    if (at == page->end || *at == '>')
        return at;
    if (*at != '"' && *at != '\'')
        return up_to(page, at, GREATER);
    const unsigned char **unclosed = &page->unclosed[*at == '\''];
    const unsigned char *close = at < *unclosed ? memchr(at + 1, *at, (size_t)(page->end - at - 1)) : NULL;
    if (!close && at < *unclosed)
        *unclosed = at;
    return close ? close + 1 : at;
}

/* The end of a tag's attributes, from the end of its name on; NULL if there are too many. */
static const unsigned char *over_attributes(Page *page, const unsigned char *at)
{
    for (int count = 0; count <= MOST_ATTRIBUTES; count++) {
        for (;;) {
            at = over_spaces(page, at);
            if (at == page->end || *at != '/')
                break;
            at++;
        }
        if (at == page->end || *at == '>')
            return at;
        at = up_to(page, at + 1, SLASH | GREATER | EQUAL);
        const unsigned char *sign = over_spaces(page, at);
        if (sign < page->end && *sign == '=')
            at = over_value(page, sign);
    }
    return NULL;
}

/* What a name, from its first letter on, says of an element. */
static int kind_of(const unsigned char *at, const unsigned char *end)
{
    uint64_t name = 0;
    for (int length = 0; at < end; at++, length++) {
        unsigned char byte = lower[*at] ? lower[*at] : *at;
        if (!lower[byte] && !(byte >= '0' && byte <= ':'))
            break;
        if (length == LONGEST_NAME)
            return OTHER;
        name |= (uint64_t)byte << 8 * length;
    }
    return kinds[slot_of(name)].kind;
}

static PyObject *is_tame(PyObject *self, PyObject *markup)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(markup, &length);
    if (!text) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
            return NULL;
        PyErr_Clear(); /* half of a character */
        Py_RETURN_FALSE;
    }
    const unsigned char *at = (const unsigned char *)text, *end = at + length, *named = at;
    Page page = {end, {end, end}};
    Py_ssize_t signs = 0, depth = 0, formatting = 0, looks = length < PY_SSIZE_T_MAX / LOOKS ? LOOKS * length : PY_SSIZE_T_MAX;
    int is_deep = 0;
    for (; (at = memchr(at, '<', (size_t)(end - at))); signs++) {
        int closes = ++at < end && *at == '/';
        const unsigned char *name = at + closes;
        if (name == end || !lower[*name])
            continue;
        int kind = kind_of(name, end);
        if (closes && kind != VOID) {
            depth -= depth > 0;
            formatting -= formatting > 0 && kind == FORMATTING;
        }
        else if (kind != VOID) {
            depth++;
            formatting += kind == FORMATTING;
        }
        is_deep |= depth > DEEPEST || formatting > MOST_FORMATTING;
        if (closes || at < named) /* a name within a name has its attributes */
            continue;
        named = up_to(&page, at, SLASH | GREATER);
        const unsigned char *over = over_attributes(&page, named);
        looks -= over ? over - at : 0;
        if (!over || looks < 0)
            Py_RETURN_FALSE;
    }
    return PyBool_FromLong(!is_deep || signs <= DEEPEST);
}

static PyMethodDef methods[] = {
    {"is_tame", is_tame, METH_O, "Whether a page needs no change."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tame", "Whether `tame` has nothing to do.", -1, methods};

PyMODINIT_FUNC PyInit__tame(void)
{
    fill_bytes();
    fill_kinds(FORMATTING_NAMES, FORMATTING);
    fill_kinds(VOID_NAMES, VOID);
    return PyModule_Create(&module);
}
