/* What `flow` does for each tag and character of a page's markup, in one walk.

   In: the markup of a whole tree as the parser writes it, and whether navigation is read.
   Out: how many characters of navigation were left out, and the sections; None for a page that `flow` itself must look at.
   Always: the answer is that of `flow.py`, which does the same where this could not be compiled. What is not written as expected is answered
   with None. Work grows with the length of the markup: what is looked at ahead is limited. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { LOOKS = 8 }; /* how often all of a page may be looked at ahead */

/* What a tag does. Elements that are not named here are blocks. */
enum { BLOCK, INLINE, CELL, LINK, SPOKEN, INPUT, ABBREVIATION, AREA, OBJECT, HEADING, VERBATIM, NAVIGATION, ROLE, DROPPED, SVG, MATH, CODE, RARE };

static const struct {
    const char *names;
    int action;
} ACTIONS[] = {
    {"span code em strong tt b i font acronym bdi bdo big cite data del dfn ins kbd label mark nobr q rb rp rt ruby s samp small strike sub "
     "sup time u var wbr button select", INLINE},
    {"td th", CELL},
    {"a", LINK},
    {"img", SPOKEN},
    {"input", INPUT},
    {"abbr", ABBREVIATION},
    {"area", AREA},
    {"object", OBJECT},
    {"h1 h2 h3 h4 h5 h6", HEADING},
    {"pre textarea listing", VERBATIM},
    {"nav", NAVIGATION},
    {"div ul section aside table", ROLE},
    {"head datalist", DROPPED},
    {"svg", SVG},
    {"math", MATH},
    {"script style", CODE},
    {"template xmp iframe noembed noframes plaintext", RARE},
};

enum { SLOTS = 256, LONGEST_NAME = 9 };

typedef struct {
    char name[LONGEST_NAME + 1];
    unsigned char length, action;
} Element;

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
    for (size_t row = 0; row < sizeof ACTIONS / sizeof *ACTIONS; row++)
        for (const char *name = ACTIONS[row].names; *name;) {
            size_t length = strcspn(name, " ");
            Element *element = slot_of(name, length);
            memcpy(element->name, name, length);
            element->length = (unsigned char)length;
            element->action = (unsigned char)ACTIONS[row].action;
            name += length + (name[length] == ' ');
        }
}

/* ---- Characters. The markup is valid UTF-8. ---- */

typedef struct {
    const char *at, *end;
} Text;

static const char *next_char(const char *at, Py_UCS4 *character)
{
    const unsigned char *byte = (const unsigned char *)at;
    if (*byte < 0x80) {
        *character = *byte;
        return at + 1;
    }
    int more = *byte < 0xE0 ? 1 : *byte < 0xF0 ? 2 : 3;
    *character = *byte & (0x3F >> more);
    for (int count = 0; count < more; count++)
        *character = *character << 6 | (*++byte & 0x3F);
    return at + more + 1;
}

static const char *char_before(const char *at)
{
    do
        at--;
    while ((*at & 0xC0) == 0x80);
    return at;
}

static size_t chars_in(Text text)
{
    size_t count = 0;
    for (; text.at < text.end; text.at++)
        count += (*text.at & 0xC0) != 0x80;
    return count;
}

static int begins(const char *at, const char *end, const char *with, size_t length)
{
    return (size_t)(end - at) >= length && !memcmp(at, with, length);
}
#define BEGINS(at, end, with) begins(at, end, with, sizeof(with) - 1)

/* Without what Python counts as white space at either end. */
static Text stripped(Text text, int at_start)
{
    Py_UCS4 character;
    while (at_start && text.at < text.end) {
        const char *after = next_char(text.at, &character);
        if (!Py_UNICODE_ISSPACE(character))
            break;
        text.at = after;
    }
    while (text.at < text.end) {
        const char *before = char_before(text.end);
        next_char(before, &character);
        if (!Py_UNICODE_ISSPACE(character))
            break;
        text.end = before;
    }
    return text;
}

/* How many bytes of an escape that the parser writes stand here, 0 for none, and the character that it is for. */
static int escape(const char *at, const char *end, char *character)
{
    static const struct {
        const char *written;
        int length;
        char character;
    } ESCAPES[] = {{"&amp;", 5, '&'}, {"&nbsp;", 6, '\xA0'}, {"&lt;", 4, '<'}, {"&gt;", 4, '>'}, {"&quot;", 6, '"'}};
    for (int number = 0; number < 5; number++)
        if (begins(at, end, ESCAPES[number].written, (size_t)ESCAPES[number].length)) {
            *character = ESCAPES[number].character;
            return ESCAPES[number].length;
        }
    return 0;
}

/* How many characters a text has that is written with escapes. */
static size_t chars_shown(Text text)
{
    size_t count = chars_in(text);
    for (const char *at = text.at; (at = memchr(at, '&', (size_t)(text.end - at)));) {
        char character;
        int length = escape(at, text.end, &character);
        count -= length ? (size_t)length - 1 : 0;
        at += length ? length : 1;
    }
    return count;
}

static int has_words(Text text)
{
    while (text.at < text.end) {
        char escaped;
        int length = *text.at == '&' ? escape(text.at, text.end, &escaped) : 0;
        if (length) {
            text.at += length;
            continue;
        }
        Py_UCS4 character;
        text.at = next_char(text.at, &character);
        if (Py_UNICODE_ISALNUM(character))
            return 1;
    }
    return 0;
}

/* ---- Tags ---- */

typedef struct {
    const char *at, *end;
    size_t drawings; /* that are open here */
} Cursor;

typedef struct {
    Text text, name, attributes; /* text: what stands before the tag */
    int action, closes;
    size_t code; /* characters of a script or style */
} Tag;

enum { NO_MORE, FOUND, UNSURE };

/* Go over a script's or style's text and end tag. */
static int over_code(Cursor *cursor, Tag *tag)
{
    Text code = {cursor->at, cursor->at};
    size_t length = (size_t)(tag->name.end - tag->name.at);
    int has_comment = 0, has_script = 0;
    for (const char *at = cursor->at; (at = memchr(at, '<', (size_t)(cursor->end - at))); at++) {
        const char *after = at + 2 + length;
        if (cursor->end - at > (Py_ssize_t)length + 2 && at[1] == '/' && !memcmp(at + 2, tag->name.at, length) && *after == '>') {
            code.end = at;
            cursor->at = after + 1;
            /* A script that holds the beginning of a comment, and of a script in it, goes on after what looks like its end. */
            if (has_comment && has_script)
                return UNSURE;
            /* In a drawing a script is an element like others, may hold some, and is escaped. */
            if (cursor->drawings && (memchr(code.at, '<', (size_t)(code.end - code.at)) || memchr(code.at, '&', (size_t)(code.end - code.at))))
                return UNSURE;
            tag->code = chars_in(code);
            return FOUND;
        }
        has_comment |= BEGINS(at, cursor->end, "<!--");
        has_script |= cursor->end - at > 6 && !PyOS_strnicmp(at + 1, "script", 6);
    }
    return UNSURE;
}

static int over_comment(Cursor *cursor, const char *at)
{
    for (; (at = memchr(at, '>', (size_t)(cursor->end - at))); at++)
        if (at[-1] == '-' && at[-2] == '-')
            break;
    if (!at)
        return UNSURE;
    cursor->at = at + 1;
    return FOUND;
}

/* Read on to the end of the next tag. A script is one with all that it holds; a comment is a tag that does nothing. */
static int next_tag(Cursor *cursor, Tag *tag)
{
    const char *at = memchr(cursor->at, '<', (size_t)(cursor->end - cursor->at)), *end = cursor->end;
    tag->text = (Text){cursor->at, at ? at : end};
    if (!at)
        return NO_MORE;
    if (BEGINS(at, end, "<!")) {
        tag->action = INLINE;
        tag->closes = 1;
        tag->name = (Text){at, at};
        return BEGINS(at, end, "<!--") && end - at > 6 ? over_comment(cursor, at + 6) : UNSURE;
    }
    at++;
    tag->closes = at < end && *at == '/';
    at += tag->closes;
    tag->name.at = at;
    while (at < end && *at != ' ' && *at != '>' && *at != '<')
        at++;
    tag->name.end = tag->attributes.at = at;
    while (at < end && *at != '>' && *at != '<')
        at++;
    tag->attributes.end = at;
    if (at == end || *at == '<')
        return UNSURE;
    cursor->at = at + 1;
    size_t length = (size_t)(tag->name.end - tag->name.at);
    tag->action = length <= LONGEST_NAME ? slot_of(tag->name.at, length)->action : BLOCK;
    if (tag->action == RARE || (tag->action == AREA && cursor->drawings))
        return UNSURE;
    if (tag->action == CODE)
        return tag->closes ? UNSURE : over_code(cursor, tag);
    if (tag->action == SVG || tag->action == MATH)
        cursor->drawings += tag->closes ? (cursor->drawings ? -1 : 0) : 1;
    return FOUND;
}

static int is_named(const Tag *tag, Text name)
{
    return tag->name.end - tag->name.at == name.end - name.at && !memcmp(tag->name.at, name.at, (size_t)(name.end - name.at));
}

/* Go on after the end of an element that began with the last tag; how many characters it shows. */
static int over_element(Cursor *cursor, Text name, size_t *shown)
{
    Tag tag;
    for (size_t depth = 1; depth;) {
        if (next_tag(cursor, &tag) != FOUND)
            return UNSURE;
        *shown += chars_shown(tag.text) + (tag.action == CODE ? tag.code : 0);
        if (is_named(&tag, name))
            depth += tag.closes ? -1 : 1;
    }
    return FOUND;
}

/* ---- Attributes: their values as they are written. ---- */

enum { ALT, LABEL, TITLE, TYPE, VALUE, PLACEHOLDER, HREF, ROLE_VALUE, WANTED };

static const char *const ATTRIBUTES[WANTED] = {"alt", "aria-label", "title", "type", "value", "placeholder", "href", "role"};

static int is_text(Text text, const char *other)
{
    size_t length = strlen(other);
    return (size_t)(text.end - text.at) == length && !memcmp(text.at, other, length);
}

/* Attributes are written as ` name="value"`; a name may have any sign but spaces in it, an equals sign at its start only. */
static void find_values(Text all, Text values[WANTED])
{
    memset(values, 0, WANTED * sizeof *values);
    for (const char *at = all.at; all.end - at > 2 && *at == ' ';) {
        const char *sign = memchr(at + 2, '=', (size_t)(all.end - at) - 2);
        const char *close = sign && BEGINS(sign, all.end, "=\"") ? memchr(sign + 2, '"', (size_t)(all.end - sign) - 2) : NULL;
        if (!close)
            return;
        for (int which = 0; which < WANTED; which++)
            if (is_text((Text){at + 1, sign}, ATTRIBUTES[which]))
                values[which] = (Text){sign + 2, close};
        at = close + 1;
    }
}

/* ---- Lines ---- */

typedef struct {
    Cursor cursor;
    int with_navigation;
    Py_ssize_t looks; /* bytes that may yet be looked at ahead */
    size_t left_out, verbatim;
    PyObject *sections, *lines, *heading; /* heading: lines of the one that is open, or NULL */
    Text unsaid; /* of a link that shows no words, in this heading */
    char *line;
    size_t used, room, cell; /* cell: where the last one begins in the line */
    int has_space; /* after what is in the cell so far */
} Walk;

/* Bytes that end a run which is copied as it stands. */
static unsigned char ends_run[256];
enum { SPACE = 1, TAB, ESCAPE, MAYBE_SPACE };

static void put(Walk *walk, const char *bytes, size_t length)
{
    if (length > walk->room - walk->used) /* never: each byte of a line is one of the markup */
        length = walk->room - walk->used;
    memcpy(walk->line + walk->used, bytes, length);
    walk->used += length;
}

static void put_run(Walk *walk, const char *bytes, size_t length)
{
    if (walk->has_space && walk->used > walk->cell)
        put(walk, " ", 1);
    walk->has_space = 0;
    put(walk, bytes, length);
}

static void end_cell(Walk *walk)
{
    Text cell = stripped((Text){walk->line + walk->cell, walk->line + walk->used}, 1);
    size_t length = (size_t)(cell.end - cell.at);
    memmove(walk->line + walk->cell, cell.at, length);
    walk->used = walk->cell + length;
    walk->has_space = 0;
}

static void next_cell(Walk *walk)
{
    if (walk->verbatim) {
        put(walk, "\t", 1);
        return;
    }
    end_cell(walk);
    if (walk->used > walk->cell)
        put(walk, "\t", 1);
    walk->cell = walk->used;
}

static void put_escape(Walk *walk, char character)
{
    if (walk->verbatim)
        put(walk, character == '\xA0' ? "\xC2\xA0" : &character, character == '\xA0' ? 2 : 1);
    else if (character == '\xA0')
        walk->has_space = 1;
    else
        put_run(walk, &character, 1);
}

/* Put a text that is written with escapes into the line; white space becomes one space, but where each stands for itself. */
static void put_text(Walk *walk, Text text)
{
    const char *at = text.at, *run = at;
    while (at < text.end) {
        int kind = ends_run[(unsigned char)*at], length = 1;
        char character = 0;
        if (kind == ESCAPE)
            length = escape(at, text.end, &character);
        else if (walk->verbatim || !kind)
            length = 0;
        else if (kind == MAYBE_SPACE)
            length = BEGINS(at, text.end, "\xC2\xA0") ? 2 : 0;
        if (!length) {
            at++;
            continue;
        }
        if (at > run)
            put_run(walk, run, (size_t)(at - run));
        if (kind == ESCAPE)
            put_escape(walk, character);
        else if (kind == TAB)
            next_cell(walk);
        else
            walk->has_space = 1;
        run = at += length;
    }
    if (at > run)
        put_run(walk, run, (size_t)(at - run));
}

static int keep(Walk *walk, Text text)
{
    PyObject *line = PyUnicode_DecodeUTF8(text.at, text.end - text.at, "strict");
    int failed = !line || PyList_Append(walk->heading ? walk->heading : walk->lines, line) < 0;
    Py_XDECREF(line);
    return failed ? -1 : 0;
}

static int keep_verbatim(Walk *walk)
{
    const char *end = walk->line + walk->used;
    for (const char *at = walk->line; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        Text line = stripped((Text){at, stop ? stop : end}, 0);
        if (line.at < line.end && keep(walk, line) < 0)
            return -1;
        at = stop ? stop + 1 : end;
    }
    return 0;
}

/* End the line. */
static int end_line(Walk *walk)
{
    int failed = 0;
    if (walk->verbatim)
        failed = keep_verbatim(walk);
    else if (walk->used) {
        end_cell(walk);
        if (walk->used == walk->cell && walk->used)
            walk->used--; /* the tab after the last cell with text */
        if (walk->used)
            failed = keep(walk, (Text){walk->line, walk->line + walk->used});
    }
    walk->used = walk->cell = 0;
    walk->has_space = 0;
    return failed;
}

static void say(Walk *walk, Text value)
{
    if (value.at == value.end)
        return;
    put_text(walk, (Text){" ", &" "[1]});
    put_text(walk, value);
    put_text(walk, (Text){" ", &" "[1]});
}

static int start_section(Walk *walk, PyObject *heading)
{
    PyObject *lines = PyList_New(0);
    PyObject *section = lines ? PyTuple_Pack(2, heading, lines) : NULL;
    int failed = !section || PyList_Append(walk->sections, section) < 0;
    Py_XDECREF(section);
    Py_XDECREF(lines);
    if (!failed)
        walk->lines = lines; /* the section holds it */
    return failed ? -1 : 0;
}

static int end_heading(Walk *walk)
{
    if (!walk->heading)
        return 0;
    if (!PyList_GET_SIZE(walk->heading)) {
        say(walk, walk->unsaid);
        if (end_line(walk) < 0)
            return -1;
    }
    PyObject *space = PyUnicode_FromString(" "), *heading = space ? PyUnicode_Join(space, walk->heading) : NULL;
    Py_CLEAR(walk->heading);
    int failed = !heading || (PyUnicode_GET_LENGTH(heading) && start_section(walk, heading) < 0);
    Py_XDECREF(space);
    Py_XDECREF(heading);
    return failed ? -1 : 0;
}

/* ---- What elements do. Each answers FOUND to go on, UNSURE to give up, or -1 for an error of Python. ---- */

static Text said(const Text values[WANTED])
{
    for (int which = ALT; which < TITLE; which++)
        if (values[which].at < values[which].end)
            return values[which];
    return values[TITLE];
}

static int link_begins(Walk *walk, const Tag *tag)
{
    Text values[WANTED];
    find_values(tag->attributes, values);
    Text value = said(values);
    int is_mark = values[HREF].at < values[HREF].end && *values[HREF].at == '#';
    if (!is_mark && value.at == value.end)
        return FOUND;
    Cursor ahead = walk->cursor;
    Tag inner = {0};
    int words = 0, image = 0;
    for (size_t depth = 1; depth && !words;) {
        if (next_tag(&ahead, &inner) != FOUND || inner.action == CODE)
            return UNSURE;
        words = has_words(inner.text);
        if (is_named(&inner, tag->name))
            depth += inner.closes ? -1 : 1;
        image |= !inner.closes && is_text(inner.name, "img");
    }
    walk->looks -= ahead.at - walk->cursor.at;
    if (walk->looks < 0)
        return UNSURE;
    if (is_mark && !words && !image)
        walk->cursor = ahead;
    else if (!words && !walk->heading)
        say(walk, value);
    else if (!words && walk->unsaid.at == walk->unsaid.end) /* in a heading that is a tool, unless nothing else is there */
        walk->unsaid = value;
    return FOUND;
}

static void speak(Walk *walk, const Tag *tag)
{
    Text values[WANTED];
    find_values(tag->attributes, values);
    Text type = values[TYPE];
    if (tag->action == INPUT && !is_text(type, "hidden") && !is_text(type, "password") && !is_text(type, "checkbox") && !is_text(type, "radio")) {
        say(walk, values[VALUE]);
        say(walk, values[PLACEHOLDER]);
    }
    say(walk, tag->action == ABBREVIATION ? values[TITLE] : said(values));
}

static int element_ends(Walk *walk, const Tag *tag)
{
    switch (tag->action) {
    case INLINE: case CELL: case LINK: case SPOKEN: case INPUT: case ABBREVIATION: case DROPPED: case SVG: case MATH:
        return FOUND;
    }
    if (end_line(walk) < 0)
        return -1;
    if (tag->action == HEADING && end_heading(walk) < 0)
        return -1;
    if (tag->action == VERBATIM && walk->verbatim)
        walk->verbatim--;
    return FOUND;
}

static int is_navigation(const Tag *tag)
{
    Text values[WANTED];
    if (tag->action != ROLE || tag->attributes.at == tag->attributes.end)
        return tag->action == NAVIGATION;
    find_values(tag->attributes, values);
    return is_text(values[ROLE_VALUE], "navigation");
}

static int element_begins(Walk *walk, const Tag *tag)
{
    size_t ignored = 0;
    switch (tag->action) {
    case INLINE: case MATH: case CODE:
        return FOUND;
    case CELL:
        next_cell(walk);
        return FOUND;
    case LINK:
        return link_begins(walk, tag);
    case SPOKEN: case INPUT: case ABBREVIATION: case SVG:
        speak(walk, tag);
        return FOUND;
    case DROPPED:
        return over_element(&walk->cursor, tag->name, &ignored);
    }
    if (end_line(walk) < 0)
        return -1;
    switch (tag->action) {
    case NAVIGATION: case ROLE:
        return !walk->with_navigation && is_navigation(tag) ? over_element(&walk->cursor, tag->name, &walk->left_out) : FOUND;
    case HEADING:
        walk->unsaid = (Text){0};
        Py_XSETREF(walk->heading, PyList_New(0));
        return walk->heading ? FOUND : -1;
    case VERBATIM:
        walk->verbatim++;
        return FOUND;
    case AREA: case OBJECT:
        speak(walk, tag);
        return tag->action == AREA && end_line(walk) < 0 ? -1 : FOUND;
    }
    return FOUND;
}

static int over_page(Walk *walk)
{
    Tag tag;
    int found = next_tag(&walk->cursor, &tag); /* what stands before the first tag is none of the page's */
    while (found == FOUND) {
        found = tag.closes ? element_ends(walk, &tag) : element_begins(walk, &tag);
        if (found != FOUND)
            return found;
        found = next_tag(&walk->cursor, &tag);
        if (found != UNSURE)
            put_text(walk, tag.text);
    }
    return found == NO_MORE && end_line(walk) < 0 ? -1 : found;
}

static PyObject *read_page(PyObject *self, PyObject *arguments)
{
    PyObject *markup;
    Py_ssize_t length;
    Walk walk = {0};
    if (!PyArg_ParseTuple(arguments, "Up", &markup, &walk.with_navigation))
        return NULL;
    const char *bytes = PyUnicode_AsUTF8AndSize(markup, &length);
    if (!bytes) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
            return NULL;
        PyErr_Clear(); /* half of a character: nothing that the parser writes */
        Py_RETURN_NONE;
    }
    PyObject *none = PyUnicode_FromString("");
    walk.cursor = (Cursor){bytes, bytes + length, 0};
    walk.looks = length < PY_SSIZE_T_MAX / LOOKS ? LOOKS * length : PY_SSIZE_T_MAX;
    walk.room = (size_t)length + 1;
    walk.line = PyMem_Malloc(walk.room);
    walk.sections = PyList_New(0);
    int found = -1;
    if (!walk.line)
        PyErr_NoMemory();
    else if (none && walk.sections && start_section(&walk, none) == 0)
        found = over_page(&walk);
    PyMem_Free(walk.line);
    Py_XDECREF(none);
    Py_XDECREF(walk.heading);
    if (found == NO_MORE)
        return Py_BuildValue("(nN)", (Py_ssize_t)walk.left_out, walk.sections);
    Py_XDECREF(walk.sections);
    if (found < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"read", read_page, METH_VARARGS, "How many characters of navigation were left out, and the sections; None where `flow` must look itself."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_flow", "What `flow` does for each tag and character.", -1, methods};

PyMODINIT_FUNC PyInit__flow(void)
{
    fill_elements();
    for (const char *space = " \n\f\r"; *space; space++)
        ends_run[(unsigned char)*space] = SPACE;
    ends_run['\t'] = TAB;
    ends_run['&'] = ESCAPE;
    ends_run[0xC2] = MAYBE_SPACE;
    return PyModule_Create(&module);
}
