/* What `tame` does for each tag of a page.

   In: markup as it was found.  Out: the same; without tags that lie too deep where there are some; None where `tame` itself must look.
   Always: the answer is that of `tame.py`, which does the same where this could not be compiled. None is the answer to a tag with too many
   attributes, and to a page that has so many tags within tags that looking at each would take long. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { DEEPEST = 400, MOST_FORMATTING = 16, MOST_ATTRIBUTES = 256, LOOKS = 8 };

enum { OTHER, VOID, FORMATTING, KEPT, SLOTS = 128, LONGEST_NAME = 8 };

static const char FORMATTING_NAMES[] = "a b big code em font i nobr s small span strike strong tt u";
static const char VOID_NAMES[] = "area base br col embed hr img input link meta param source track wbr";
static const char KEPT_NAMES[] = "p li dt dd td th tr option optgroup tbody thead tfoot colgroup html body head h1 h2 h3 h4 h5 h6";

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

/* The end of a name, and what it says of its element. */
static const unsigned char *over_name(const unsigned char *at, const unsigned char *end, int *kind)
{
    const unsigned char *start = at;
    uint64_t name = 0;
    for (; at < end; at++) {
        unsigned char byte = lower[*at] ? lower[*at] : *at;
        if (!lower[byte] && !(byte >= '0' && byte <= ':'))
            break;
        if (at - start < LONGEST_NAME)
            name |= (uint64_t)byte << 8 * (at - start);
    }
    *kind = at - start > LONGEST_NAME ? OTHER : kinds[slot_of(name)].kind;
    return at;
}

/* The end of a tag, from the end of its name on, as far as its quotes are closed within it. */
static const unsigned char *over_tag(const unsigned char *at, const unsigned char *end)
{
    while (at < end && *at != '<' && *at != '>') {
        const unsigned char *close = at + 1;
        if (*at == '"' || *at == '\'') {
            while (close < end && *close != *at && *close != '<' && *close != '>')
                close++;
            if (close == end || *close != *at)
                return at;
            close++;
        }
        at = close;
    }
    return at < end && *at == '>' ? at + 1 : at;
}

/* The markup without formatting, and with breaks for tags that lie too deep. */
static PyObject *flattened(const unsigned char *at, const unsigned char *end)
{
    size_t length = (size_t)(end - at), used = 0, depth = 0;
    char *flat = length < PY_SSIZE_T_MAX / 2 ? PyMem_Malloc(2 * length + 1) : NULL; /* a tag is at least half as long as a break */
    if (!flat)
        return PyErr_NoMemory();
    while (at < end) {
        const unsigned char *open = memchr(at, '<', (size_t)(end - at)), *stop = open ? open + 1 : end;
        memcpy(flat + used, at, (size_t)((open ? open : end) - at));
        used += (size_t)((open ? open : end) - at);
        int kind = KEPT, closes = stop < end && *stop == '/', is_deep = 0;
        if (open && stop + closes < end && lower[stop[closes]])
            stop = over_tag(over_name(stop + closes, end, &kind), end);
        if (kind == OTHER && closes) {
            depth -= depth > 0;
            is_deep = depth >= DEEPEST;
        }
        else if (kind == OTHER)
            is_deep = ++depth > DEEPEST;
        const char *instead = is_deep ? "<br>" : (const char *)open;
        length = !open || kind == FORMATTING ? 0 : is_deep ? 4 : (size_t)(stop - open);
        if (length)
            memcpy(flat + used, instead, length);
        used += length;
        at = stop;
    }
    PyObject *made = PyUnicode_DecodeUTF8(flat, (Py_ssize_t)used, "strict");
    PyMem_Free(flat);
    return made;
}

static PyObject *tamed(PyObject *self, PyObject *markup)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(markup, &length);
    if (!text) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
            return NULL;
        PyErr_Clear(); /* half of a character */
        Py_RETURN_NONE;
    }
    const unsigned char *start = (const unsigned char *)text, *at = start, *end = at + length, *named = at;
    Page page = {end, {end, end}};
    Py_ssize_t signs = 0, depth = 0, formatting = 0, looks = length < PY_SSIZE_T_MAX / LOOKS ? LOOKS * length : PY_SSIZE_T_MAX;
    int is_deep = 0, kind;
    for (; (at = memchr(at, '<', (size_t)(end - at))); signs++) {
        int closes = ++at < end && *at == '/';
        const unsigned char *name = at + closes;
        if (name == end || !lower[*name])
            continue;
        over_name(name, end, &kind);
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
            Py_RETURN_NONE;
    }
    if (is_deep && signs > DEEPEST)
        return flattened(start, end);
    return Py_NewRef(markup);
}

static PyMethodDef methods[] = {
    {"tamed", tamed, METH_O, "The markup as a parser can read it; None where `tame` must look itself."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tame", "What `tame` does for each tag.", -1, methods};

PyMODINIT_FUNC PyInit__tame(void)
{
    fill_bytes();
    fill_kinds(FORMATTING_NAMES, FORMATTING);
    fill_kinds(VOID_NAMES, VOID);
    fill_kinds(KEPT_NAMES, KEPT);
    return PyModule_Create(&module);
}
