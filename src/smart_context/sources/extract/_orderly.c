/* What `orderly` does for each tag and character of a page.

   In: markup as it was found, and the characters that names stand for.
   Out: what the page's head says, its body as `flow` reads it, and whether it is certain that `tame` changes nothing; None where only a parser can tell.
   Always: `flow` gives for that body what it gives for the one that the parser writes. A page is in order if the parser would neither move, add nor
   leave out anything that `flow` looks at: each element ends where it is said, or where the next one of its kind begins. Whatever else is met is
   answered with None. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "_orderly_markup.h"

/* ---- Elements that are open ---- */

static int top_kind(const Page *page)
{
    if (!page->depth)
        return BODY;
    const Element *element = page->open[page->depth - 1].element;
    return element ? element->kind : OTHER;
}

static int kind_of(const Open *open)
{
    return open->element ? open->element->kind : OTHER;
}

static int is_between_cells(const Page *page)
{
    int kind = top_kind(page);
    return kind == TABLE || kind == COLUMNS || kind == ROWS || kind == ROW;
}

static int push(Page *page, Text name, const Element *element, int is_written)
{
    if (page->depth == DEEPEST)
        return UNSURE;
    page->open[page->depth++] = (Open){name, element, is_written};
    int kind = element ? element->kind : OTHER;
    page->links += kind == LINK;
    page->forms += kind == FORM;
    page->buttons += kind == ONCE;
    page->verbatim += kind == VERBATIM;
    return GO;
}

static int pop(Page *page)
{
    const Open *open = &page->open[--page->depth];
    int kind = kind_of(open);
    page->links -= kind == LINK;
    page->forms -= kind == FORM;
    page->buttons -= kind == ONCE;
    page->verbatim -= kind == VERBATIM;
    if (open->is_written) {
        const Element *element = open->element;
        if (PUT(page, "</") < 0 || put(page, element->name, element->length) < 0 || PUT(page, ">") < 0)
            return -1;
        page->is_fresh = kind != LINK;
        return GO;
    }
    return open->element && (open->element->is & (SILENT | NAMED)) ? GO : put_break(page);
}

/* End the items, terms and paragraphs that end with what holds them. */
static int pop_implied(Page *page, const Element *but)
{
    while (page->depth && page->open[page->depth - 1].element != but) {
        int kind = top_kind(page);
        if (kind != PARAGRAPH && kind != ITEM && kind != TERM)
            break;
        if (pop(page) < 0)
            return -1;
    }
    return GO;
}

/* End a paragraph before what none can hold. */
static int end_paragraph(Page *page)
{
    for (int at = page->depth - 1; at >= 0; at--) {
        const Element *element = page->open[at].element;
        if (element && element->kind == PARAGRAPH)
            return at == page->depth - 1 ? pop(page) : UNSURE;
        if (element && (element->is & WALL))
            break;
    }
    return GO;
}

/* End an item before the next, or a term. */
static int end_item(Page *page, int kind)
{
    for (int at = page->depth - 1; at >= 0; at--) {
        const Element *element = page->open[at].element;
        if (element && element->kind == kind) {
            while (page->depth - 1 > at && top_kind(page) == PARAGRAPH)
                if (pop(page) < 0)
                    return -1;
            return page->depth - 1 == at ? pop(page) : UNSURE;
        }
        if (element && (element->is & HOLDS))
            break;
    }
    return GO;
}

/* End what must have ended before a part of a table begins, up to what holds it. */
static int end_parts(Page *page, int kind)
{
    if (!is_between_cells(page)) {
        int found = pop_implied(page, NULL);
        if (found != GO || top_kind(page) != CELL)
            return found < 0 ? -1 : UNSURE;
        if (pop(page) < 0)
            return -1;
    }
    while (top_kind(page) == COLUMNS || (top_kind(page) == ROW && kind != CELL) || (top_kind(page) == ROWS && kind == ROWS)) {
        if (kind == COLUMN && top_kind(page) == COLUMNS)
            break;
        if (pop(page) < 0)
            return -1;
    }
    int top = top_kind(page);
    switch (kind) {
    case CELL:
        return top == ROW ? GO : UNSURE;
    case ROW: {
        const Element *rows = slot_of("tbody", 5);
        return top == TABLE ? push(page, (Text){rows->name, rows->name + rows->length}, rows, 0) : top == ROWS ? GO : UNSURE;
    }
    case COLUMN:
        return top == COLUMNS ? GO : UNSURE;
    default:
        return top == TABLE ? GO : UNSURE;
    }
}

/* ---- What tags do ---- */

enum { ALT, LABEL, TITLED, TYPE, VALUE, PLACEHOLDER, WANTED, HREF = WANTED, ROLED };

/* Write those attributes that `flow` looks at; whether there were any. */
static int put_attributes(Page *page, const Element *element, int *has_any)
{
    static const char *const NAMES[] = {"alt", "aria-label", "title", "type", "value", "placeholder", "href", "role"};
    Text name, value;
    const char *start = page->at;
    int seen = 0;
    *has_any = 0;
    for (int number = 0;; number++) {
        int found = take_attribute(page, &name, &value);
        if (found != GO || name.at == name.end)
            return end_attributes(page, start, number, found);
        int which = 0;
        while (which <= ROLED && !is_same(name, NAMES[which], strlen(NAMES[which])))
            which++;
        if (which > ROLED || (seen & 1 << which) || (which == ROLED) != ((element->is & ROLE) != 0))
            continue;
        seen |= 1 << which;
        if (which == HREF) {
            if (value.at < value.end && *value.at == '&')
                return UNSURE;
            if (element->kind != LINK || value.at == value.end || *value.at != '#')
                continue;
            value.end = value.at + 1;
        }
        if (which == ROLED && memchr(value.at, '&', (size_t)(value.end - value.at)))
            return UNSURE;
        if (which == ROLED && (value.end - value.at != 10 || memcmp(value.at, "navigation", 10)))
            continue;
        *has_any = 1;
        if (PUT(page, " ") < 0 || put(page, NAMES[which], strlen(NAMES[which])) < 0)
            return -1;
        found = put_value(page, value);
        if (found != GO)
            return found;
    }
}

/* Write the tag with which an element begins, if it does anything. */
static int put_tag(Page *page, const Element *element, int *is_written)
{
    *is_written = 0;
    if (!element || !(element->is & (SILENT | NAMED | ROLE))) {
        int found = over_attributes(page);
        return found == GO ? put_break(page) : found;
    }
    if (element->is & SILENT)
        return over_attributes(page);
    size_t before = page->used;
    if (PUT(page, "<") < 0 || put(page, element->name, element->length) < 0)
        return -1;
    int has_any = 0;
    int found = element->is & (SPEAKS | ROLE) ? put_attributes(page, element, &has_any) : over_attributes(page);
    if (found != GO)
        return found;
    if (!has_any && (element->kind == LINK || (element->is & ROLE))) {
        page->used = before;
        return element->kind == LINK ? GO : put_break(page);
    }
    *is_written = (element->is & (HOLDS | ROLE)) != 0 && element->kind != CELL;
    *is_written |= element->kind == LINK;
    page->is_fresh = *is_written && element->kind != LINK;
    return PUT(page, ">");
}

static int put_code(Page *page, const Element *element)
{
    Text raw;
    int found = over_attributes(page);
    if (found == GO)
        found = over_raw(page, element->name, element->length, &raw);
    if (found != GO)
        return found;
    page->is_fresh = 0;
    if (PUT(page, "<") < 0 || put(page, element->name, element->length) < 0 || PUT(page, ">") < 0 || put(page, raw.at, (size_t)(raw.end - raw.at)) < 0)
        return -1;
    if (PUT(page, "</") < 0 || put(page, element->name, element->length) < 0)
        return -1;
    return PUT(page, ">");
}

/* Whether the tag that was gone over ends its element as well: in drawings one may. UNSURE where the slash may be part of a value. */
static int ends_itself(const Page *page, const char *after_name, int *ends)
{
    const char *slash = page->at - 2;
    *ends = *slash == '/';
    return !*ends || slash == after_name || IS(slash[-1], SPACE) || slash[-1] == '"' || slash[-1] == '\'' ? GO : UNSURE;
}

static int is_shape(Text name)
{
    static const char *const SHAPES[] = {"path", "g", "circle", "rect", "line", "polyline", "polygon", "ellipse", "use", "defs", "symbol"};
    for (size_t number = 0; number < sizeof SHAPES / sizeof *SHAPES; number++)
        if (is_same(name, SHAPES[number], strlen(SHAPES[number])))
            return 1;
    return 0;
}

/* A drawing that has shapes and nothing else: each ends a line, as what `flow` does not know. */
static int put_drawing(Page *page, const Element *element)
{
    Text open[DEEPEST_DRAWING];
    const Element *ignored;
    const char *after_name = page->at;
    int depth = 0, ends = 0, is_written, found = put_tag(page, element, &is_written);
    if (found == GO)
        found = ends_itself(page, after_name, &ends);
    while (found == GO && !ends) {
        Text text = {page->at, memchr(page->at, '<', (size_t)(page->end - page->at))}, name;
        if (!text.end || page->end - text.end < 3 || !is_blank(text))
            return UNSURE;
        if (put_text(page, text) < 0)
            return -1;
        page->is_fresh &= !page->verbatim;
        int closes = text.end[1] == '/';
        page->at = text.end + 1 + closes;
        if (!IS(*page->at, LETTER))
            return UNSURE;
        found = take_name(page, &name, &ignored);
        if (found != GO)
            return UNSURE;
        count(&page->tags, !closes);
        if (closes) {
            if (*page->at++ != '>')
                return UNSURE;
            if (!depth && is_same(name, "svg", 3))
                break;
            if (!depth || !is_same(name, open[depth - 1].at, (size_t)(open[depth - 1].end - open[depth - 1].at)))
                return UNSURE;
            depth--;
        } else {
            int is_leaf;
            if (!is_shape(name) || over_attributes(page) != GO || ends_itself(page, name.end, &is_leaf) != GO)
                return UNSURE;
            if (!is_leaf && depth == DEEPEST_DRAWING)
                return UNSURE;
            if (!is_leaf)
                open[depth++] = name;
        }
        found = put_break(page);
    }
    return found == GO ? PUT(page, "</svg>") : found;
}

/* Bring what is open to where an element can begin. */
static int prepare(Page *page, const Element *element)
{
    int kind = element ? element->kind : OTHER, found = GO;
    switch (kind) {
    case CAPTION: case COLUMNS: case COLUMN: case ROWS: case ROW: case CELL:
        return end_parts(page, kind);
    case TITLE: case HTML: case HEAD: case BODY:
        return UNSURE;
    }
    if (is_between_cells(page) || (kind == LINK && page->links) || (kind == FORM && page->forms) || (kind == ONCE && page->buttons))
        return UNSURE;
    if (kind == ITEM || kind == TERM)
        found = end_item(page, kind);
    if (kind == TABLE) {
        int depth = page->depth;
        found = end_paragraph(page);
        return depth == page->depth ? found : UNSURE; /* in old pages a table does not end one */
    }
    if (found == GO && element && (element->is & ENDS_PARAGRAPH))
        found = end_paragraph(page);
    return found == GO && kind == HEADING && top_kind(page) == HEADING ? UNSURE : found;
}

static int begin_element(Page *page)
{
    Text name;
    const Element *element;
    int is_written, found = take_name(page, &name, &element);
    if (found == GO)
        found = prepare(page, element);
    if (found == GO && element && element->kind == CODE)
        return put_code(page, element);
    count_tag(page, element, 1);
    if (found == GO && element && element->kind == DRAWING)
        return put_drawing(page, element);
    if (found == GO)
        found = put_tag(page, element, &is_written);
    if (found != GO || (element && (element->is & VOID)))
        return found;
    return push(page, name, element, is_written);
}

static int end_element(Page *page, Text name, const Element *element)
{
    count_tag(page, element, 0);
    int kind = element ? element->kind : OTHER;
    if (kind == PARAGRAPH && top_kind(page) != PARAGRAPH) {
        /* The parser makes an empty one, where none is open. */
        if (is_between_cells(page) || end_paragraph(page) != GO)
            return UNSURE;
        return put_break(page);
    }
    if (element && (element->is & (ENDS_PARAGRAPH | HOLDS)) && pop_implied(page, element) < 0)
        return -1;
    if (kind == ROW || kind == ROWS || kind == TABLE)
        while (top_kind(page) == CELL || (top_kind(page) == ROW && kind != ROW) || ((top_kind(page) == ROWS || top_kind(page) == COLUMNS) && kind == TABLE))
            if (pop(page) < 0)
                return -1;
    if (!page->depth)
        return UNSURE;
    const Open *top = &page->open[page->depth - 1];
    if (top->element != element || (!element && !is_same(name, top->name.at, (size_t)(top->name.end - top->name.at))))
        return UNSURE;
    return pop(page);
}

/* ---- The page ---- */

/* Go over white space and comments to the next tag. */
static int next_tag(Page *page)
{
    for (;;) {
        while (page->at < page->end && IS(*page->at, SPACE))
            page->at++;
        if (page->end - page->at < 4 || memcmp(page->at, "<!--", 4))
            return GO;
        if (over_comment(page) != GO)
            return UNSURE;
    }
}

static int take_tag(Page *page, int kind)
{
    Text name;
    const Element *element;
    if (next_tag(page) != GO || page->end - page->at < 2 || page->at[0] != '<' || !IS(page->at[1], LETTER))
        return UNSURE;
    page->at++;
    if (take_name(page, &name, &element) != GO || !element || element->kind != kind)
        return UNSURE;
    count_tag(page, element, 1);
    return over_attributes(page);
}

/* Add what the head says to a list: by which name, "" for the title, and what, with escapes. */
static int keep(Page *page, PyObject *said, Text name, Text content)
{
    page->used = 0;
    int found = put_text(page, name);
    size_t middle = page->used;
    if (found == GO)
        found = put_text(page, content);
    if (found != GO)
        return found;
    PyObject *pair = Py_BuildValue("(s#s#)", page->to, (Py_ssize_t)middle, page->to + middle, (Py_ssize_t)(page->used - middle));
    int failed = !pair || PyList_Append(said, pair) < 0;
    Py_XDECREF(pair);
    return failed ? -1 : GO;
}

static int take_meta(Page *page, PyObject *said)
{
    static const char *const NAMES[] = {"name", "property", "content"};
    Text name, value, values[3] = {{NULL, NULL}};
    const char *start = page->at;
    for (int number = 0;; number++) {
        int found = take_attribute(page, &name, &value);
        if (found == GO && name.at == name.end) {
            Text by = values[values[0].at == values[0].end];
            found = end_attributes(page, start, number, found);
            return by.at < by.end && found == GO ? keep(page, said, by, values[2]) : found;
        }
        if (found != GO)
            return found;
        for (int which = 0; which < 3; which++)
            if (!values[which].at && is_same(name, NAMES[which], strlen(NAMES[which])))
                values[which] = value;
    }
}

static int over_prologue(Page *page)
{
    if (page->end - page->at > 6 && !memcmp(page->at, "<?xml", 5) && IS(page->at[5], SPACE)) {
        page->at = memchr(page->at, '>', (size_t)(page->end - page->at));
        if (!page->at++)
            return UNSURE;
    }
    if (next_tag(page) != GO)
        return UNSURE;
    if (page->end - page->at > 10 && !PyOS_strnicmp(page->at, "<!doctype ", 10)) {
        page->at = memchr(page->at, '>', (size_t)(page->end - page->at));
        if (!page->at++)
            return UNSURE;
    }
    return GO;
}

/* Read what stands before the body. */
static int take_head(Page *page, PyObject *said)
{
    if (over_prologue(page) != GO || take_tag(page, HTML) != GO || take_tag(page, HEAD) != GO)
        return UNSURE;
    for (;;) {
        Text name, raw;
        const Element *element;
        int found = GO;
        if (next_tag(page) != GO || page->end - page->at < 3 || *page->at++ != '<')
            return UNSURE;
        if (*page->at == '/') {
            page->at++;
            if (take_name(page, &name, &element) != GO || !element || element->kind != HEAD || *page->at++ != '>')
                return UNSURE;
            count_tag(page, element, 0);
            return take_tag(page, BODY);
        }
        if (!IS(*page->at, LETTER) || take_name(page, &name, &element) != GO || !element)
            return UNSURE;
        if (element->kind == META) {
            found = is_same(name, "meta", 4) ? take_meta(page, said) : over_attributes(page);
        } else if (element->kind == CODE || element->kind == TITLE) {
            if (over_attributes(page) != GO || over_raw(page, element->name, element->length, &raw) != GO)
                return UNSURE;
            if (element->kind == TITLE)
                found = keep(page, said, (Text){raw.at, raw.at}, raw);
            page->hidden++; /* it is open for a moment */
        } else
            return UNSURE;
        if (found != GO)
            return found;
    }
}

/* Nothing may stand after the body but the end of the page. */
static int over_end(Page *page)
{
    for (;;) {
        Text name;
        const Element *element;
        if (next_tag(page) != GO)
            return UNSURE;
        if (page->at == page->end)
            return GO;
        if (page->end - page->at < 3 || memcmp(page->at, "</", 2))
            return UNSURE;
        page->at += 2;
        if (take_name(page, &name, &element) != GO || !element || element->kind != HTML || *page->at++ != '>')
            return UNSURE;
    }
}

static int over_body(Page *page)
{
    while (page->at < page->end) {
        const char *tag = memchr(page->at, '<', (size_t)(page->end - page->at));
        Text text = {page->at, tag ? tag : page->end};
        int blank = is_blank(text), found = blank || !is_between_cells(page) ? put_text(page, text) : UNSURE;
        page->is_fresh &= blank && (!page->verbatim || text.at == text.end); /* there white space is part of the line that follows */
        page->at = text.end;
        if (found != GO)
            return found;
        if (!tag)
            break;
        if (page->end - tag < 3)
            return UNSURE;
        if (IS(tag[1], LETTER)) {
            page->at = tag + 1;
            found = begin_element(page);
        } else if (tag[1] == '/' && IS(tag[2], LETTER)) {
            Text name;
            const Element *element;
            page->at = tag + 2;
            found = take_name(page, &name, &element);
            while (page->at < page->end && IS(*page->at, SPACE))
                page->at++;
            if (found != GO || page->at >= page->end || *page->at++ != '>' || (element && (element->is & VOID)))
                return UNSURE;
            if (element && (element->kind == BODY || element->kind == HTML)) {
                found = pop_implied(page, NULL);
                return found != GO ? found : page->depth ? UNSURE : over_end(page);
            }
            found = end_element(page, name, element);
        } else
            found = over_comment(page);
        if (found != GO)
            return found;
    }
    int found = pop_implied(page, NULL);
    return found == GO && page->depth ? UNSURE : found;
}

/* Read a page; what `parts` answers. */
static PyObject *read_page(Page *page)
{
    PyObject *said = PyList_New(0), *answer = NULL;
    int found = said ? make_room(page, (size_t)(page->end - page->at) + 16) : -1;
    if (found == GO)
        found = take_head(page, said);
    page->used = 0;
    page->is_fresh = 1;
    if (found == GO)
        found = PUT(page, "<p>");
    if (found == GO)
        found = over_body(page);
    int is_tame = page->tags.most + page->hidden <= DEEPEST && page->formatting.most + page->hidden <= MOST_FORMATTING && !page->has_many_attributes;
    if (found == GO)
        answer = Py_BuildValue("(Os#O)", said, page->to, (Py_ssize_t)page->used, is_tame ? Py_True : Py_False);
    else if (found == UNSURE)
        answer = Py_NewRef(Py_None);
    Py_XDECREF(said);
    PyMem_Free(page->to);
    return answer;
}

static PyObject *parts(PyObject *self, PyObject *arguments)
{
    PyObject *markup, *entities;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "UO!", &markup, &PyDict_Type, &entities))
        return NULL;
    const char *bytes = PyUnicode_AsUTF8AndSize(markup, &length);
    if (!bytes) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
            return NULL;
        PyErr_Clear(); /* half of a character */
        Py_RETURN_NONE;
    }
    Page *page = PyMem_Calloc(1, sizeof *page);
    if (!page)
        return PyErr_NoMemory();
    page->at = bytes;
    page->end = bytes + length;
    page->entities = entities;
    PyObject *answer = read_page(page);
    PyMem_Free(page);
    return answer;
}

static PyMethodDef methods[] = {
    {"parts", parts, METH_VARARGS, "What a page's head says, its body as `flow` reads it, and whether it is surely tame; None where only a parser can tell."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_orderly", "What `orderly` does for each tag and character.", -1, methods};

PyMODINIT_FUNC PyInit__orderly(void)
{
    fill_elements();
    for (const char *space = " \t\n\f\r"; *space; space++)
        is_char[(unsigned char)*space] |= SPACE;
    for (int byte = 'a'; byte <= 'z'; byte++) {
        is_char[byte] |= LETTER | IN_NAME;
        is_char[byte - 0x20] |= LETTER | IN_NAME | UPPER;
    }
    for (const char *more = "0123456789-_:."; *more; more++)
        is_char[(unsigned char)*more] |= IN_NAME;
    return PyModule_Create(&module);
}
