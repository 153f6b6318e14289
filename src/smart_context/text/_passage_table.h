/* What `_passage.c` and what it includes have in common: memory that grows, texts by numbers, characters.

   Always: nothing is written beyond what was reserved; what grows has a bound, beyond which there is a MemoryError. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_hash.h"

enum { MAX_TERM = 64, MOST_PARTS = 8, GROUP = 3, MANY = 6, LONGEST_TAG = 16, CLASSES = 0x32400, AHEAD = 16, RECENT = 4096, LANGUAGES = 30 };
enum { LOWER = 1, UPPER = 2, DIGIT = 4, UNDERSCORE = 8, LETTER = LOWER | UPPER };         /* of ASCII */
enum { MARK = 1, TOGETHER = 2, CLUSTERED = 4, BEFORE = 8, AFTER = 16, RARE = 32, UNSPACED = 2 | 4 }; /* of other characters, as Python says */
static const uint32_t VOTES = 1u << 30, ENGLISH = 1u << 31, NONE = UINT32_MAX;            /* the other bits: a stop word of which languages */
static const size_t MOST = (size_t)1 << 30;                                                /* bytes of anything that grows */
static const uint32_t CODE = 0x7FFFFF, AS_WRITTEN = 0x800000;

static uint32_t crc_table[256];
static unsigned char ascii[128], small[128]; /* what a character is; the small letter or digit that it is in a word */

typedef struct {
    unsigned char *data;
    size_t length, room;
} Buffer;

/* What is known of a word in a language. Its term lies in the arena, after it other terms joined by spaces, and their codes. */
typedef struct {
    uint32_t next, term, code; /* the next of the word's records, + 1 */
    uint16_t term_length, more_length, there;
    uint8_t language, codes_length, is_empty, is_there;
} Record;

/* A word or a token: its text in the arena, and what is known of it: a word's flags, how many records it has, and the first of these, because most have no
   other; where a token's forms are. */
typedef struct {
    uint32_t start, length, hash, seen, flags, data;
    Record first;
} Key;

/* A short text that was looked up, as most are: it and its number lie together, and those of common words in little memory. */
typedef struct {
    uint64_t text;
    uint32_t length, number; /* + 1 */
} Recent;

typedef struct {
    Key *keys;
    uint64_t *slots; /* the hash and the number + 1 */
    uint32_t count, room, mask;
    Recent recent[RECENT];
} Map;

typedef struct {
    PyObject_HEAD
    Map words, tokens;
    Record *records; /* but for the first of each word */
    uint32_t record_count, record_room, now, flagged; /* the first words are those with flags */
    Buffer arena;
    Secret secret;
    unsigned char *classes;
} Table;

typedef struct {
    int kind, is_ascii;
    const void *data;
    Py_ssize_t length;
} Text;

/* ---- memory ---- */

static int grow_buffer(Buffer *buffer, size_t more)
{
    size_t room = buffer->room ? buffer->room : 1024;
    if (more > MOST - buffer->length) {
        PyErr_NoMemory();
        return -1;
    }
    while (room - buffer->length < more)
        room *= 2;
    unsigned char *data = PyMem_Realloc(buffer->data, room);
    if (!data) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->data = data;
    buffer->room = room;
    return 0;
}

static inline int reserve(Buffer *buffer, size_t more)
{
    return more <= buffer->room - buffer->length ? 0 : grow_buffer(buffer, more);
}

static inline int append(Buffer *buffer, const void *data, size_t length)
{
    if (reserve(buffer, length) < 0)
        return -1;
    if (length)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    return 0;
}

static inline int append_number(Buffer *buffer, uint32_t number)
{
    return append(buffer, &number, sizeof number);
}

static inline int append_code(Buffer *buffer, uint32_t code)
{
    unsigned char bytes[3] = {code & 0xFF, code >> 8 & 0xFF, code >> 16 & 0xFF};
    return append(buffer, bytes, 3);
}

static inline uint32_t number_at(const void *data, size_t at)
{
    uint32_t number;
    memcpy(&number, (const char *)data + at * sizeof number, sizeof number);
    return number;
}

static PyObject *as_bytes(const Buffer *buffer)
{
    return PyBytes_FromStringAndSize((const char *)buffer->data, (Py_ssize_t)buffer->length);
}

/* Terms, each with a space after it, as one text without the last space. */
static PyObject *as_text(const Buffer *buffer)
{
    return PyUnicode_DecodeUTF8((const char *)buffer->data, buffer->length ? (Py_ssize_t)buffer->length - 1 : 0, NULL);
}

/* ---- numbers of words and tokens ---- */

static int grow(Map *map)
{
    uint32_t size = map->mask ? (map->mask + 1) * 2 : 1024;
    if (size > 1u << 28) {
        PyErr_NoMemory();
        return -1;
    }
    Key *keys = PyMem_Realloc(map->keys, sizeof(Key) * (size / 2));
    if (keys)
        map->keys = keys;
    uint64_t *slots = keys ? PyMem_Calloc(size, sizeof *slots) : NULL;
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t number = 0; number < map->count; number++) {
        uint32_t slot = keys[number].hash & (size - 1);
        while (slots[slot])
            slot = (slot + 1) & (size - 1);
        slots[slot] = (uint64_t)keys[number].hash << 32 | (number + 1);
    }
    PyMem_Free(map->slots);
    map->slots = slots;
    map->mask = size - 1;
    map->room = size / 2;
    return 0;
}

/* The number of a text that is not in the arena and has a hash; a new one if it was not met before. NONE without memory. */
static uint32_t looked_up(Table *table, Map *map, const unsigned char *text, size_t length, uint32_t hash)
{
    if (map->count == map->room && grow(map) < 0)
        return NONE;
    uint32_t slot = hash & map->mask;
    for (; map->slots[slot]; slot = (slot + 1) & map->mask) {
        if (map->slots[slot] >> 32 != hash)
            continue;
        uint32_t number = (uint32_t)map->slots[slot] - 1;
        const Key *key = map->keys + number;
        if (key->length == length && is_equal(table->arena.data + key->start, text, length))
            return number;
    }
    Key key = {(uint32_t)table->arena.length, (uint32_t)length, hash, 0, 0, 0, {0}};
    if (append(&table->arena, text, length) < 0)
        return NONE;
    map->keys[map->count] = key;
    map->slots[slot] = (uint64_t)hash << 32 | (map->count + 1);
    return map->count++;
}

/* The same of any such text. */
static inline uint32_t number_of(Table *table, Map *map, const unsigned char *text, size_t length)
{
    uint32_t hash = (uint32_t)(hash_of(table->secret, text, length) >> 16), number;
    if (length > sizeof map->recent->text)
        return looked_up(table, map, text, length, hash);
    Recent *recent = map->recent + hash % RECENT;
    uint64_t whole = part_of(text, length);
    if (recent->number && recent->text == whole && recent->length == length)
        return recent->number - 1;
    number = looked_up(table, map, text, length, hash);
    if (number != NONE)
        *recent = (Recent){whole, (uint32_t)length, number + 1};
    return number;
}

/* A number for this call: what was seen in it has it. */
static uint32_t next_call(Table *table)
{
    if (++table->now == 0) {
        for (uint32_t number = 0; number < table->words.count; number++)
            table->words.keys[number].seen = 0;
        for (uint32_t number = 0; number < table->tokens.count; number++)
            table->tokens.keys[number].seen = 0;
        table->now = 1;
    }
    return table->now;
}

static inline int is_new(Key *key, uint32_t now)
{
    int fresh = key->seen != now;
    key->seen = now;
    return fresh;
}

/* ---- characters ---- */

static uint32_t crc32_of(const unsigned char *data, size_t length, uint32_t before)
{
    uint32_t crc = ~before;
    for (size_t at = 0; at < length; at++)
        crc = crc_table[(crc ^ data[at]) & 0xFF] ^ crc >> 8;
    return ~crc;
}

static inline Py_UCS4 char_at(const Text *text, Py_ssize_t at)
{
    return PyUnicode_READ(text->kind, text->data, at);
}

static inline int class_of(const Table *table, Py_UCS4 c)
{
    return c < CLASSES ? table->classes[c] : 0;
}

/* Whether a character belongs to a word, as the underscore does in a token. */
static inline int is_word(const Table *table, Py_UCS4 c, int also)
{
    if (c < 128)
        return ascii[c] & (LETTER | DIGIT | also);
    return Py_UNICODE_ISALNUM(c) || class_of(table, c) & MARK;
}

static inline int is_alnum(Py_UCS4 c)
{
    return c < 128 ? ascii[c] & (LETTER | DIGIT) : Py_UNICODE_ISALNUM(c);
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Put characters as UTF-8 into a place that has four bytes for each; how many bytes. A letter of ASCII becomes a small one if that is asked for. */
static size_t put(unsigned char *to, const Text *text, Py_ssize_t start, Py_ssize_t end, int is_small)
{
    unsigned char *begin = to;
    for (Py_ssize_t at = start; at < end; at++) {
        Py_UCS4 c = char_at(text, at);
        if (c < 0x80) {
            *to++ = is_small ? lower((unsigned char)c) : (unsigned char)c;
        } else if (c < 0x800) {
            *to++ = 0xC0 | c >> 6;
            *to++ = 0x80 | (c & 0x3F);
        } else if (c < 0x10000) {
            *to++ = 0xE0 | c >> 12;
            *to++ = 0x80 | (c >> 6 & 0x3F);
            *to++ = 0x80 | (c & 0x3F);
        } else {
            *to++ = 0xF0 | c >> 18;
            *to++ = 0x80 | (c >> 12 & 0x3F);
            *to++ = 0x80 | (c >> 6 & 0x3F);
            *to++ = 0x80 | (c & 0x3F);
        }
    }
    return (size_t)(to - begin);
}

/* How many bytes the first characters have. */
static size_t cut(const unsigned char *text, size_t length, size_t characters)
{
    if (length <= characters)
        return length;
    size_t at = 0;
    for (; at < length; at++)
        if ((text[at] & 0xC0) != 0x80 && characters-- == 0)
            break;
    return at;
}

static int is_ascii(const unsigned char *text, size_t length)
{
    unsigned char all = 0;
    for (size_t at = 0; at < length; at++)
        all |= text[at];
    return all < 128;
}

/* ---- a text that is walked through ---- */

typedef struct {
    Table *table;
    Text text;
    unsigned char *place; /* room for the whole text in UTF-8 */
    Buffer numbers;
    uint32_t now, english;
} Walk;

static int begin(Walk *walk, Table *table, PyObject *text)
{
    memset(walk, 0, sizeof *walk);
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is expected");
        return -1;
    }
    walk->table = table;
    walk->text = (Text){(int)PyUnicode_KIND(text), PyUnicode_IS_ASCII(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)};
    if ((size_t)walk->text.length > MOST / 8) {
        PyErr_NoMemory();
        return -1;
    }
    walk->now = next_call(table);
    walk->place = PyMem_Malloc((size_t)walk->text.length * (walk->text.is_ascii ? 1 : 4) + 8);
    if (!walk->place) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void end(Walk *walk)
{
    PyMem_Free(walk->place);
    PyMem_Free(walk->numbers.data);
}
