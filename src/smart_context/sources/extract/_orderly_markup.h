/* The markup of a page, for `_orderly.c`: what elements are, how tags and attributes are read, and how text is written.

   Always: what a browser reads in a way of its own is UNSURE, and left to the parser. */

enum { DEEPEST = 400, MOST_FORMATTING = 16, MOST_ATTRIBUTES = 200, DEEPEST_DRAWING = 32, LONGEST_NAME = 10, LONGEST_ENTITY = 40, LONGEST_BARE = 6, SLOTS = 512 };

/* What an element is to the parser. */
enum { OTHER, PARAGRAPH, ITEM, TERM, LINK, HEADING, VERBATIM, ONCE, FORM, TABLE, CAPTION, COLUMNS, COLUMN, ROWS, ROW, CELL, CODE, DRAWING, TITLE, META, HTML, HEAD, BODY, DOUBT };

enum {
    VOID = 1,
    ENDS_PARAGRAPH = 2, /* where one is open */
    HOLDS = 4, /* ends the search for an item or term that is open */
    WALL = 8, /* ends the search for a paragraph that is open */
    SILENT = 16, /* `flow` does nothing for it */
    SPEAKS = 32, /* by attributes */
    NAMED = 64, /* written by its name; any other ends a line where it begins and where it ends */
    ROLE = 128, /* may be navigation */
    FORMATS = 256, /* to `tame` */
};

typedef struct {
    const char *name;
    uint8_t length, kind;
    uint16_t is;
} Element;

static const struct {
    const char *names;
    int kind, is;
} ELEMENTS[] = {
    {"b big code em font i s small span strike strong tt u", OTHER, SILENT | FORMATS},
    {"acronym bdi bdo cite data del dfn ins kbd label mark q samp sub sup time var", OTHER, SILENT},
    {"wbr", OTHER, SILENT | VOID},
    {"a", LINK, SPEAKS | NAMED | FORMATS},
    {"abbr", OTHER, SPEAKS | NAMED},
    {"img input", OTHER, SPEAKS | NAMED | VOID},
    {"area", OTHER, SPEAKS | NAMED | VOID | HOLDS},
    {"button", ONCE, SILENT | HOLDS | WALL},
    {"br embed param source track", OTHER, VOID | HOLDS},
    {"hr", OTHER, VOID | HOLDS | ENDS_PARAGRAPH},
    {"p", PARAGRAPH, ENDS_PARAGRAPH},
    {"address", OTHER, ENDS_PARAGRAPH},
    {"div", OTHER, ENDS_PARAGRAPH | ROLE},
    {"ul section aside", OTHER, ENDS_PARAGRAPH | HOLDS | ROLE},
    {"nav", OTHER, ENDS_PARAGRAPH | HOLDS | NAMED},
    {"article blockquote center details dir dl fieldset figcaption figure footer header hgroup main menu ol summary", OTHER, ENDS_PARAGRAPH | HOLDS},
    {"pre listing", VERBATIM, ENDS_PARAGRAPH | HOLDS | NAMED},
    {"h1 h2 h3 h4 h5 h6", HEADING, ENDS_PARAGRAPH | HOLDS | NAMED},
    {"form", FORM, ENDS_PARAGRAPH | HOLDS},
    {"li", ITEM, ENDS_PARAGRAPH | HOLDS},
    {"dt dd", TERM, ENDS_PARAGRAPH | HOLDS},
    {"table", TABLE, HOLDS | WALL | ROLE},
    {"caption", CAPTION, HOLDS | WALL},
    {"colgroup", COLUMNS, HOLDS},
    {"col", COLUMN, VOID},
    {"tbody thead tfoot", ROWS, HOLDS},
    {"tr", ROW, HOLDS},
    {"td th", CELL, HOLDS | WALL | NAMED},
    {"script style", CODE, NAMED},
    {"svg", DRAWING, SPEAKS | NAMED},
    {"title", TITLE, 0},
    {"meta link base", META, VOID},
    {"html", HTML, 0},
    {"head", HEAD, 0},
    {"body", BODY, 0},
    {"applet bgsound basefont datalist dialog frame frameset iframe image isindex keygen marquee math menuitem nobr noembed noframes noscript object "
     "optgroup option plaintext rb rp rt rtc search select selectedcontent template textarea xmp", DOUBT, 0},
};

static Element elements[SLOTS];

static Element *slot_of(const char *name, size_t length)
{
    unsigned hash = 0;
    for (size_t at = 0; at < length; at++)
        hash = hash * 31 + (unsigned char)name[at];
    for (unsigned slot = hash % SLOTS;; slot = (slot + 1) % SLOTS)
        if (!elements[slot].length || (elements[slot].length == length && !memcmp(elements[slot].name, name, length)))
            return &elements[slot];
}

static void fill_elements(void)
{
    for (size_t row = 0; row < sizeof ELEMENTS / sizeof *ELEMENTS; row++)
        for (const char *name = ELEMENTS[row].names; *name;) {
            size_t length = strcspn(name, " ");
            *slot_of(name, length) = (Element){name, (uint8_t)length, (uint8_t)ELEMENTS[row].kind, (uint16_t)ELEMENTS[row].is};
            name += length + (name[length] == ' ');
        }
}

typedef struct {
    const char *at, *end;
} Text;

typedef struct {
    Text name; /* as the page writes it */
    const Element *element; /* NULL for one that is not named here: it ends lines, and is nothing special to the parser */
    int is_written; /* by its name */
} Open;

typedef struct {
    size_t now, most;
} Counted;

typedef struct {
    const char *at, *end;
    PyObject *entities;
    Open open[DEEPEST];
    int depth, links, forms, buttons, verbatim;
    int is_fresh; /* nothing but white space was written since a line ended */
    Counted tags, formatting; /* as `tame` counts them */
    size_t hidden; /* what `tame` may take for tags: in code, comments and values */
    int has_many_attributes;
    char *to;
    size_t used, room;
} Page;

/* Each of these answers GO to go on, UNSURE to leave the page to the parser, or -1 for an error of Python. */
enum { UNSURE, GO };

enum { SPACE = 1, IN_NAME = 2, LETTER = 4, UPPER = 8 };
static uint8_t is_char[256];
#define IS(byte, what) (is_char[(unsigned char)(byte)] & (what))

/* ---- What is written ---- */

static int make_room(Page *page, size_t length)
{
    if (length <= page->room - page->used)
        return GO;
    size_t room = 2 * page->room + length;
    char *to = PyMem_Realloc(page->to, room);
    if (!to) {
        PyErr_NoMemory();
        return -1;
    }
    page->to = to;
    page->room = room;
    return GO;
}

static int put(Page *page, const char *bytes, size_t length)
{
    if (make_room(page, length) < 0)
        return -1;
    memcpy(page->to + page->used, bytes, length);
    page->used += length;
    return GO;
}
#define PUT(page, text) put(page, text, sizeof(text) - 1)

/* End a line, where one may have begun. */
static int put_break(Page *page)
{
    if (page->is_fresh)
        return GO;
    page->is_fresh = 1;
    return PUT(page, "<p>");
}

static int put_char(Page *page, Py_UCS4 code)
{
    char bytes[4];
    int length = 0;
    if (code == '&')
        return PUT(page, "&amp;");
    if (code == '<')
        return PUT(page, "&lt;");
    if (code == '>')
        return PUT(page, "&gt;");
    if (code == '"')
        return PUT(page, "&quot;");
    if (code < 0x80)
        bytes[length++] = (char)code;
    else {
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        bytes[length++] = (char)((0xFF00 >> (more + 1) | code >> 6 * more) & 0xFF);
        while (more--)
            bytes[length++] = (char)(0x80 | (code >> 6 * more & 0x3F));
    }
    return put(page, bytes, (size_t)length);
}

/* A character by its number. What browsers take for another one is left to the parser. */
static int put_number(Page *page, const char **at, const char *end)
{
    const char *digit = *at + 2;
    int is_hex = digit < end && (*digit | 0x20) == 'x', count = 0;
    Py_UCS4 code = 0;
    for (digit += is_hex; digit < end && count < 7; digit++, count++) {
        int value = *digit >= '0' && *digit <= '9' ? *digit - '0' : is_hex && (*digit | 0x20) >= 'a' && (*digit | 0x20) <= 'f' ? (*digit | 0x20) - 'a' + 10 : -1;
        if (value < 0)
            break;
        code = code * (is_hex ? 16 : 10) + (Py_UCS4)value;
    }
    if (!count || digit >= end || *digit != ';')
        return UNSURE;
    if (code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) || (code >= 0xFDD0 && code < 0xFDF0) || (code & 0xFFFE) == 0xFFFE || code > 0x10FFFF)
        return UNSURE;
    *at = digit + 1;
    return put_char(page, code);
}

static PyObject *entity(Page *page, const char *name, const char *end)
{
    PyObject *key = PyUnicode_FromStringAndSize(name, end - name);
    PyObject *meant = key ? PyDict_GetItemWithError(page->entities, key) : NULL;
    Py_XDECREF(key);
    return meant;
}

static int put_named(Page *page, const char **at, const char *end)
{
    const char *name = *at + 1, *after = name;
    while (after < end && after - name < LONGEST_ENTITY && ((*after >= '0' && *after <= '9') || IS(*after, LETTER)))
        after++;
    if (after - name == LONGEST_ENTITY)
        return UNSURE;
    PyObject *meant = NULL;
    if (after < end && *after == ';') {
        meant = entity(page, name, ++after);
        if (!meant && PyErr_Occurred())
            return -1;
    }
    if (!meant) {
        /* A few names need no semicolon, whatever follows; without such a name an `&` stands for itself. */
        for (const char *stop = name + 1; stop <= after && stop - name <= LONGEST_BARE; stop++)
            if (entity(page, name, stop) || PyErr_Occurred())
                return PyErr_Occurred() ? -1 : UNSURE;
        (*at)++;
        return PUT(page, "&amp;");
    }
    if (!PyUnicode_Check(meant))
        return UNSURE;
    for (Py_ssize_t number = 0; number < PyUnicode_GET_LENGTH(meant); number++)
        if (put_char(page, PyUnicode_READ_CHAR(meant, number)) < 0)
            return -1;
    *at = after;
    return GO;
}

/* What stands for a character, or an `&` that stands for itself. */
static int put_reference(Page *page, const char **at, const char *end)
{
    static const char *const AS_WRITTEN[] = {"&nbsp;", "&lt;", "&gt;", "&amp;", "&quot;"};
    char next = *at + 1 < end ? (*at)[1] : ' ';
    if (next == '#')
        return put_number(page, at, end);
    if (!IS(next, LETTER) && !(next >= '0' && next <= '9')) {
        (*at)++;
        return PUT(page, "&amp;");
    }
    for (int number = 0; number < 5; number++) {
        size_t length = strlen(AS_WRITTEN[number]);
        if ((size_t)(end - *at) >= length && !memcmp(*at, AS_WRITTEN[number], length)) {
            *at += length;
            return put(page, AS_WRITTEN[number], length);
        }
    }
    return put_named(page, at, end);
}

static int put_text(Page *page, Text text)
{
    while (text.at < text.end) {
        const char *stop = memchr(text.at, '&', (size_t)(text.end - text.at));
        if (put(page, text.at, (size_t)((stop ? stop : text.end) - text.at)) < 0)
            return -1;
        if (!stop)
            break;
        text.at = stop;
        int found = put_reference(page, &text.at, text.end);
        if (found != GO)
            return found;
    }
    return GO;
}

/* A value of an attribute, in quotation marks. */
static int put_value(Page *page, Text value)
{
    if (PUT(page, "=\"") < 0)
        return -1;
    while (value.at < value.end) {
        int found = *value.at == '&'                              ? put_reference(page, &value.at, value.end)
                    : strchr("<>\"", *value.at) && *value.at ? put_char(page, (unsigned char)*value.at++)
                                                                  : put(page, value.at++, 1);
        if (found != GO)
            return found;
    }
    return PUT(page, "\"");
}

/* ---- Tags ---- */

static void count(Counted *counted, int begins)
{
    if (begins)
        counted->now++;
    else if (counted->now)
        counted->now--;
    if (counted->now > counted->most)
        counted->most = counted->now;
}

static void count_tag(Page *page, const Element *element, int begins)
{
    if (element && (element->is & VOID))
        return;
    page->hidden += !element && begins; /* to `tame` a name ends before a hyphen */
    count(&page->tags, begins);
    if (element && (element->is & FORMATS))
        count(&page->formatting, begins);
}

static void count_hidden(Page *page, const char *at, const char *end)
{
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        page->hidden++;
        at++;
    }
}

static int is_blank(Text text)
{
    while (text.at < text.end && IS(*text.at, SPACE))
        text.at++;
    return text.at == text.end;
}

static int is_same(Text name, const char *other, size_t length)
{
    return (size_t)(name.end - name.at) == length && !PyOS_strnicmp(name.at, other, (Py_ssize_t)length);
}

static int take_name(Page *page, Text *name, const Element **element)
{
    char lower[LONGEST_NAME];
    name->at = page->at;
    while (page->at < page->end && IS(*page->at, IN_NAME))
        page->at++;
    name->end = page->at;
    if (page->at >= page->end || !(IS(*page->at, SPACE) || *page->at == '/' || *page->at == '>'))
        return UNSURE;
    size_t length = (size_t)(name->end - name->at);
    *element = NULL;
    if (length <= LONGEST_NAME) {
        for (size_t at = 0; at < length; at++)
            lower[at] = (char)(name->at[at] | (IS(name->at[at], UPPER) ? 0x20 : 0));
        Element *known = slot_of(lower, length);
        *element = known->length ? known : NULL;
    }
    return *element && (*element)->kind == DOUBT ? UNSURE : GO;
}

/* Read an attribute; its name is empty at the end of the tag, which is gone over. */
static int take_attribute(Page *page, Text *name, Text *value)
{
    const char *at = page->at, *end = page->end;
    while (at < end && (IS(*at, SPACE) || *at == '/'))
        at++;
    name->at = at;
    while (at < end && (IS(*at, IN_NAME) || *at == '@'))
        at++;
    *value = (Text){at, at};
    name->end = at;
    if (name->at == name->end) {
        page->at = at + 1;
        return at < end && *at == '>' ? GO : UNSURE;
    }
    while (at < end && IS(*at, SPACE))
        at++;
    page->at = at;
    if (at >= end || *at != '=')
        return at < end && (*at == '>' || *at == '/' || at > name->end) ? GO : UNSURE;
    at++;
    while (at < end && IS(*at, SPACE))
        at++;
    if (at >= end)
        return UNSURE;
    if (*at == '"' || *at == '\'') {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (!close || close + 1 >= end || !(IS(close[1], SPACE) || close[1] == '/' || close[1] == '>'))
            return UNSURE;
        *value = (Text){at + 1, close};
        page->at = close + 1;
        return GO;
    }
    value->at = at;
    while (at < end && !IS(*at, SPACE) && *at != '>')
        if (strchr("\"'<=`", *at++))
            return UNSURE;
    value->end = page->at = at;
    return at > value->at && at < end ? GO : UNSURE;
}

/* Whether a tag has been gone over, and what of it `tame` may take for others. */
static int end_attributes(Page *page, const char *start, int number, int found)
{
    count_hidden(page, start, page->at);
    page->has_many_attributes |= number > MOST_ATTRIBUTES;
    return found;
}

static int over_attributes(Page *page)
{
    Text name, value;
    const char *start = page->at;
    int found, number = 0;
    do
        found = take_attribute(page, &name, &value);
    while (found == GO && name.at < name.end && ++number);
    return end_attributes(page, start, number, found);
}

static int over_comment(Page *page)
{
    const char *at = page->at + 4, *end = page->end;
    if (end - page->at < 7 || memcmp(page->at, "<!--", 4) || *at == '>' || (*at == '-' && at[1] == '>'))
        return UNSURE;
    for (; (at = memchr(at, '-', (size_t)(end - at))) && end - at > 2; at++)
        if (at[1] == '-' && (at[2] == '>' || at[2] == '!')) {
            count_hidden(page, page->at + 1, at);
            page->at = at + 3;
            return at[2] == '>' ? GO : UNSURE;
        }
    return UNSURE;
}

/* Go over the text of an element that holds no other, and over its end tag. */
static int over_raw(Page *page, const char *name, size_t length, Text *raw)
{
    int has_comment = 0, has_script = 0;
    raw->at = page->at;
    for (const char *at = page->at; (at = memchr(at, '<', (size_t)(page->end - at))); at++) {
        size_t left = (size_t)(page->end - at);
        has_comment |= left >= 4 && !memcmp(at, "<!--", 4);
        has_script |= left >= 7 && !PyOS_strnicmp(at, "<script", 7);
        if (left <= length + 2 || at[1] != '/' || PyOS_strnicmp(at + 2, name, (Py_ssize_t)length))
            continue;
        const char *after = at + 2 + length;
        if (*after != '>' && !IS(*after, SPACE) && *after != '/')
            continue;
        raw->end = at;
        page->at = after + 1;
        count_hidden(page, raw->at, raw->end);
        /* A script that holds the beginning of a comment, and of a script in it, goes on after what looks like its end. */
        return *after == '>' && !(has_comment && has_script) ? GO : UNSURE;
    }
    return UNSURE;
}
