/* What `brief` does for each code of a segment: write it in few bits, and read it.

   In: segments with their numbers, or the files of `packed` and numbers of segments; and the table of numbered words, three bytes each, and of short codes.
   Out: the segments in fewer bytes, or as they were.
   Always: the answer is that of `brief.py`, and of `packed.py`, which do the same where this could not be compiled; what is not what it should be raises ValueError,
   and nothing is read or written beyond the lengths that were checked. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 10, WIDTH = 3, SHORT = 2, COUNTS = 6, CHECK = 2, MOST = 0xFFFF };
enum { PLACE = 8, LENGTH = 24 }; /* bytes of where a segment lies by itself, and bits of these that are its length */
enum { IN_GROUP = 32, GROUP = PLACE + 2 * IN_GROUP }; /* segments of a group, and its bytes: where the first lies, and the length of each */
enum { IS_APART = 0x8000, LONGEST = 0x7FFF }; /* a bit of a length: the segment lies by itself; and the other bits */
enum { SAMPLE = 1 << 19, OFTEN = 4, SHARE = 3, LEAST = 64, WORTH = 48 };
enum { CLASSES = 4, SHORTS = 4096, NEARER = 17, FARTHEST = 80, RECENT = 128 }; /* of distances back: the least of the second kind, the last, and codes that are kept */
enum { KIND = 3, GAP_KIND = 2, BACK = CLASSES, AGAIN = BACK + 2, BARE, KINDS, GAPS = 4 };
enum { ALL_WORDS = (1 << 9) + (1 << 11) + (1 << 13) + (1 << 16) };

/* Of each kind: how many bits belong to it, and what they are counted from: the first number, or the least distance. */
static const unsigned char bits_of[KINDS] = {9, 11, 13, 16, 4, 6, 0, 24}, gap_bits[GAPS] = {1, 3, 5, 12};
static const uint32_t least_of[KINDS] = {0, 512, 2560, 10752, 1, NEARER, 0, 0}, least_gap[GAPS] = {0, 2, 10, 42};

/* The same to read by: a mask of its bits, and whether it is a number, a distance, one that is new, or a code, all ones where it is. */
typedef struct {
    uint32_t mask, least, is_number, is_back, is_new, is_bare, bits;
} Seen;

#define NUMBER(bits, least) {(1u << (bits)) - 1, least, ~0u, 0, 0, 0, bits}
#define DISTANCE(bits, least) {(1u << (bits)) - 1, least, 0, ~0u, ~0u, 0, bits}
static const Seen seen[KINDS] = {NUMBER(9, 0), NUMBER(11, 512), NUMBER(13, 2560), NUMBER(16, 10752), DISTANCE(4, 1), DISTANCE(6, NEARER), {0, 0, 0, ~0u, 0, 0, 0}, {0xFFFFFF, 0, 0, 0, 0, ~0u, 24}};
enum { NOWHERE = 1 << 30 }; /* a distance that leads to nothing */

enum { FETCHED = 8 }; /* codes ahead of the one that is written, whose places in the table are fetched: a table is larger than a processor's cache */

static uint64_t secret; /* odd; nobody who writes a text knows it: they cannot choose words whose codes fall together */

static uint32_t word_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static uint32_t two_bytes(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t four_bytes(const unsigned char *at)
{
    return word_at(at) | (uint32_t)at[3] << 24;
}

/* Eight bytes, the lowest first, of which so many are there. */
static uint64_t eight_bytes(const unsigned char *at, Py_ssize_t left)
{
    uint64_t out = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (left >= 8) {
        memcpy(&out, at, 8);
        return out;
    }
#endif
    for (Py_ssize_t byte = 0; byte < (left < 8 ? left : 8); byte++)
        out |= (uint64_t)at[byte] << 8 * byte;
    return out;
}

static uint64_t all_eight(const unsigned char *at)
{
    return eight_bytes(at, 8);
}

/* Two bytes by which a segment is known to be the one that was written under a number. */
static unsigned check_of(const unsigned char *body, Py_ssize_t length, uint64_t number)
{
    const uint64_t mix = 0x9E3779B97F4A7C15u;
    uint64_t mixed = number * 0xD6E8FEB86659FD93u + (uint64_t)length;
    for (Py_ssize_t at = 0; at < length; at += 8) {
        mixed = (mixed ^ eight_bytes(body + at, length - at)) * mix;
        mixed ^= mixed >> 32;
    }
    return (unsigned)(mixed * mix >> 48);
}

/* Words with a number each */

typedef struct {
    uint32_t word, number; /* the number is one more than it is, or how often a word was met: 0 where nothing is */
} Slot;

typedef struct {
    Slot *all;
    int bits;
} Slots;

static size_t place_in(const Slots *slots, uint32_t word)
{
    return (size_t)(word * secret >> (64 - slots->bits));
}

/* The slot of a word, or the empty one that it may have. */
static Slot *slot_of(const Slots *slots, uint32_t word)
{
    size_t at = place_in(slots, word);
    while (slots->all[at].number && slots->all[at].word != word)
        at = (at + 1) & (((size_t)1 << slots->bits) - 1);
    return slots->all + at;
}

/* Bits of the number of a slot: at least half of all are empty. */
static int bits_for(Py_ssize_t many)
{
    int bits = 4;
    while ((Py_ssize_t)1 << bits < 2 * many)
        bits++;
    return bits;
}

static int empty_slots(Slots *slots, Py_ssize_t many)
{
    slots->bits = bits_for(many);
    slots->all = PyMem_Calloc((size_t)1 << slots->bits, sizeof(Slot));
    if (!slots->all)
        PyErr_NoMemory();
    return slots->all != NULL;
}

/* The words of a table, each with one more than its number: of several, that of the fewest bits. */
static int table_slots(Slots *slots, const unsigned char *words, Py_ssize_t length)
{
    if (length != WIDTH * (Py_ssize_t)ALL_WORDS) {
        slots->all = NULL;
        PyErr_SetString(PyExc_ValueError, "not a table of words");
        return 0;
    }
    Py_ssize_t many = 0;
    for (Py_ssize_t at = 0; at < length; at += WIDTH)
        many += word_at(words + at) > 0;
    if (!empty_slots(slots, many))
        return 0;
    for (uint32_t number = 1; number <= length / WIDTH; number++, words += WIDTH) {
        uint32_t word = word_at(words);
        Slot *slot = word ? slot_of(slots, word) : NULL;
        if (slot && !slot->number)
            *slot = (Slot){word, number};
    }
    return 1;
}

static int class_of(uint32_t number)
{
    int which = 0;
    while (which + 1 < CLASSES && number >= least_of[which + 1])
        which++;
    return which;
}

/* Packed segments */

typedef struct {
    const unsigned char *data;
    Py_ssize_t count, there; /* how many codes it has, and how many of what is only there */
} Segment;

static int begin_packed(PyObject *object, Segment *segment)
{
    if (PyBytes_Check(object) && PyBytes_GET_SIZE(object) >= HEADER) {
        segment->data = (const unsigned char *)PyBytes_AS_STRING(object);
        segment->count = two_bytes(segment->data + 2) + two_bytes(segment->data + 4) + two_bytes(segment->data + 6);
        segment->there = two_bytes(segment->data + 8);
        if (PyBytes_GET_SIZE(object) == HEADER + WIDTH * segment->count + SHORT * segment->there)
            return 1;
    }
    PyErr_SetString(PyExc_ValueError, "not a packed segment");
    return 0;
}

/* The most codes that one of some segments has, and how many all have; -1 with an error where one is none. */
static Py_ssize_t longest(PyObject *items, Py_ssize_t *codes)
{
    Py_ssize_t most = 0;
    Segment segment;
    *codes = 0;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(items); at++) {
        if (!begin_packed(PySequence_Fast_GET_ITEM(items, at), &segment))
            return -1;
        most = segment.count > most ? segment.count : most;
        *codes += segment.count;
    }
    return most;
}

/* Empty the first slots of a segment's own, as many as it needs. */
static Slots own_slots(const Slots *room, Py_ssize_t count)
{
    Slots own = {room->all, bits_for(count)};
    memset(own.all, 0, sizeof(Slot) << own.bits);
    return own;
}

/* Writing */

typedef struct {
    unsigned char *to;
    uint64_t held;
    unsigned many;
} Bits;

static inline void add_bits(Bits *bits, uint32_t value, unsigned many)
{
    bits->held |= (uint64_t)value << bits->many;
    bits->many += many;
    if (bits->many >= 32) {
        for (int byte = 0; byte < 4; byte++)
            bits->to[byte] = (unsigned char)(bits->held >> 8 * byte);
        bits->to += 4;
        bits->held >>= 32;
        bits->many -= 32;
    }
}

/* Write what is held, and zeros up to a whole byte; where that ends. */
static unsigned char *end_of(Bits *bits)
{
    for (unsigned done = 0; done < bits->many; done += 8, bits->held >>= 8)
        *bits->to++ = (unsigned char)bits->held;
    return bits->to;
}

static unsigned char *varied(unsigned char *to, uint32_t number)
{
    for (; number > 127; number >>= 7)
        *to++ = (unsigned char)(number | 128);
    *to++ = (unsigned char)number;
    return to;
}

typedef struct {
    Slots table, last;
    uint16_t numbers[1 << 16];      /* of short codes: one more than each has */
    uint64_t is_there[SHORTS / 64]; /* of a segment: which numbers it has, a bit each */
    uint32_t bare[1 << 16];         /* and its short codes that have none */
    unsigned char is_met[1 << 16];
    unsigned char *made;
} Shortening;

static int ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* What is only there of a segment, each once: how many have a number, and how many have none, which are ascending. */
static void sort_there(const Segment *segment, Shortening *work, Py_ssize_t *numbered, Py_ssize_t *bare)
{
    const unsigned char *from = segment->data + HEADER + WIDTH * segment->count;
    memset(work->is_there, 0, sizeof work->is_there);
    *numbered = *bare = 0;
    for (Py_ssize_t at = 0; at < segment->there; at++) {
        uint32_t code = two_bytes(from + SHORT * at), number = work->numbers[code];
        if (number) {
            uint64_t *some = work->is_there + (number - 1) / 64, bit = (uint64_t)1 << (number - 1) % 64;
            *numbered += !(*some & bit);
            *some |= bit;
        } else if (!work->is_met[code]) {
            work->is_met[code] = 1;
            work->bare[(*bare)++] = code;
        }
    }
    for (Py_ssize_t at = 0; at < *bare; at++)
        work->is_met[work->bare[at]] = 0;
    qsort(work->bare, *bare, sizeof(uint32_t), ascending);
}

/* The first number from one on that a segment has; there is one. */
static uint32_t next_there(const Shortening *work, uint32_t from)
{
    uint32_t at = from / 64;
    uint64_t some = work->is_there[at] >> from % 64;
    if (!some) {
        from = 64 * ++at;
        while (!(some = work->is_there[at]))
            from = 64 * ++at;
    }
    for (; !(some & 0xFF); some >>= 8)
        from += 8;
    for (; !(some & 1); some >>= 1)
        from++;
    return from;
}

static void write_codes(const Segment *segment, const Shortening *work, Bits *kinds, Bits *bits)
{
    const unsigned char *wide = segment->data + HEADER;
    Slots last = own_slots(&work->last, segment->count);
    Py_ssize_t distance = 0;
    for (Py_ssize_t at = 0; at < segment->count; at++) {
        uint32_t word = word_at(wide + WIDTH * at), more = 0;
#ifdef __GNUC__
        if (at + FETCHED < segment->count)
            __builtin_prefetch(work->table.all + place_in(&work->table, word_at(wide + WIDTH * (at + FETCHED))));
#endif
        Slot *slot = slot_of(&last, word);
        Py_ssize_t back = slot->number ? at + 1 - (Py_ssize_t)slot->number : FARTHEST + 1;
        *slot = (Slot){word, (uint32_t)at + 1};
        int kind = AGAIN;
        if (!distance || distance > at || word_at(wide + WIDTH * (at - distance)) != word) {
            if (back <= FARTHEST) {
                kind = BACK + (back >= NEARER);
                distance = back;
                more = (uint32_t)back - least_of[kind];
            } else {
                uint32_t found = slot_of(&work->table, word)->number;
                kind = found ? class_of(found - 1) : BARE;
                more = found ? found - 1 - least_of[kind] : word;
            }
        }
        add_bits(kinds, (uint32_t)kind, KIND);
        add_bits(bits, more, bits_of[kind]);
    }
}

static Py_ssize_t bytes_for(Py_ssize_t bits)
{
    return (bits + 7) / 8;
}

static PyObject *shorten(PyObject *object, uint64_t number, void *known)
{
    Shortening *work = known;
    Segment segment;
    if (!begin_packed(object, &segment))
        return NULL;
    Py_ssize_t numbered, bare;
    sort_there(&segment, work, &numbered, &bare);
    unsigned char *body = work->made + CHECK, *to = body;
    for (int field = 0; field < 4; field++)
        to = varied(to, two_bytes(segment.data + 2 * field));
    to = varied(varied(to, (uint32_t)numbered), (uint32_t)bare);
    Bits kinds = {to, 0, 0}, gaps = {to + bytes_for(KIND * segment.count), 0, 0}, bits = {gaps.to + bytes_for(GAP_KIND * numbered), 0, 0};
    write_codes(&segment, work, &kinds, &bits);
    uint32_t next = 0;
    for (Py_ssize_t done = 0; done < numbered; done++) {
        uint32_t number = next_there(work, next), gap = number - next;
        int kind = (gap >= least_gap[1]) + (gap >= least_gap[2]) + (gap >= least_gap[3]);
        add_bits(&gaps, (uint32_t)kind, GAP_KIND);
        add_bits(&bits, gap - least_gap[kind], gap_bits[kind]);
        next = number + 1;
    }
    for (Py_ssize_t at = 0; at < bare; at++)
        add_bits(&bits, work->bare[at], 8 * SHORT);
    end_of(&kinds);
    end_of(&gaps);
    to = end_of(&bits);
    unsigned check = check_of(body, to - body, number);
    work->made[0] = (unsigned char)check;
    work->made[1] = (unsigned char)(check >> 8);
    return PyBytes_FromStringAndSize((char *)work->made, to - work->made);
}

/* Reading */

typedef struct {
    const unsigned char *words, *shorts;
    Py_ssize_t short_count;
} Table;

/* The six numbers that a segment begins with; where they end, NULL where they do not. */
static const unsigned char *read_counts(const unsigned char *at, const unsigned char *end, uint32_t *counts)
{
    for (int field = 0; field < COUNTS; field++) {
        counts[field] = 0;
        for (int shift = 0; shift < 21; shift += 7) {
            if (at == end)
                return NULL;
            uint32_t byte = *at++;
            counts[field] |= (byte & 127) << shift;
            if (byte < 128)
                break;
        }
    }
    return at;
}

/* Bytes of which bits are read. They may lie in a file, and be changed while they are: nothing is read beyond their end, behind which all is zero. */
typedef struct {
    const unsigned char *from;
    Py_ssize_t length;
} Stream;

/* At least 56 bits from a place on. */
static inline uint64_t bits_at(Stream stream, Py_ssize_t at)
{
    return at >> 3 < stream.length ? eight_bytes(stream.from + (at >> 3), stream.length - (at >> 3)) >> (at & 7) : 0;
}

typedef struct {
    Py_ssize_t at;
    uint32_t distance, flaws, recent[RECENT];
} State;

/* Read some codes, at most eight, whose kinds are given. Which kind comes next cannot be guessed, so that it is told by numbers, and not by where to go on. The
   highest bit of `flaws` is set where a number has no word, or a distance leads to nothing. Four bytes are written for each code. */
static inline void read_some(Stream stream, uint32_t kinds, uint32_t done, uint32_t until, int is_inside, const unsigned char *words, State *state, unsigned char *out)
{
    Py_ssize_t at = state->at;
    uint32_t distance = state->distance, flaws = state->flaws;
    for (; done < until; done++, kinds >>= KIND) {
        const Seen *kind = seen + kinds % KINDS;
        uint64_t bits = is_inside ? all_eight(stream.from + (at >> 3)) >> (at & 7) : bits_at(stream, at);
        uint32_t more = ((uint32_t)bits & kind->mask) + kind->least;
        at += kind->bits;
        distance = (more & kind->is_new) | (distance & ~kind->is_new);
        uint32_t word = four_bytes(words + WIDTH * (size_t)(more & kind->is_number)) & kind->is_number & 0xFFFFFF;
        flaws |= ((word - 1) & kind->is_number) | ((done - distance) & kind->is_back);
        word |= (state->recent[(done - distance) % RECENT] & kind->is_back) | (more & kind->is_bare);
        state->recent[done % RECENT] = word;
        memcpy(out + WIDTH * (size_t)done, (unsigned char[4]){(unsigned char)word, (unsigned char)(word >> 8), (unsigned char)(word >> 16), 0}, 4);
    }
    state->at = at;
    state->distance = distance;
    state->flaws = flaws;
}

/* Read codes: their kinds, and from a place on the bits that belong to each; where these end, 0 where they are not as they should be. */
static Py_ssize_t read_codes(Stream stream, Py_ssize_t at, uint32_t count, const unsigned char *words, unsigned char *out)
{
    enum { TOGETHER = 8, FARTHEST_READ = TOGETHER * WIDTH + 8 };
    State state = {at, NOWHERE, 0, {0}};
    for (uint32_t done = 0; done < count; done += TOGETHER) {
        uint32_t kinds = (uint32_t)bits_at(stream, (Py_ssize_t)KIND * done);
        if (count - done >= TOGETHER && (state.at >> 3) + FARTHEST_READ <= stream.length)
            read_some(stream, kinds, done, done + TOGETHER, 1, words, &state, out);
        else
            read_some(stream, kinds, done, count - done < TOGETHER ? count : done + TOGETHER, 0, words, &state, out);
    }
    return state.flaws >> 31 ? 0 : state.at;
}

/* Read what is only there, in the same way: so many that have a number, and so many that have none. */
static Py_ssize_t read_there(Stream stream, Py_ssize_t kinds, Py_ssize_t at, const uint32_t *counts, const Table *table, unsigned char *out)
{
    const unsigned char *shorts = table->shorts;
    uint32_t next = 0, is_bad = 0, numbers = (uint32_t)table->short_count;
    for (uint32_t done = 0; done < counts[0]; done++, kinds += GAP_KIND, out += SHORT, next++) {
        unsigned kind = bits_at(stream, kinds) & ((1 << GAP_KIND) - 1);
        next += ((uint32_t)bits_at(stream, at) & ((1u << gap_bits[kind]) - 1)) + least_gap[kind];
        at += gap_bits[kind];
        uint32_t is_in = -(uint32_t)(next < numbers);
        is_bad |= ~is_in;
        memcpy(out, shorts + SHORT * (size_t)(next & is_in), SHORT);
    }
    for (uint32_t done = 0; done < counts[1]; done++, at += 8 * SHORT, out += SHORT) {
        uint64_t value = bits_at(stream, at);
        out[0] = (unsigned char)value;
        out[1] = (unsigned char)(value >> 8);
    }
    return is_bad ? 0 : at;
}

static PyObject *restore_bytes(const unsigned char *data, Py_ssize_t length, uint64_t number, const Table *table)
{
    uint32_t counts[COUNTS];
    PyObject *out = NULL;
    const unsigned char *end = data + length, *from = NULL;
    if (length >= CHECK && two_bytes(data) == check_of(data + CHECK, length - CHECK, number))
        from = read_counts(data + CHECK, end, counts);
    if (!from || counts[0] > MOST || counts[1] > MOST || counts[2] > MOST || counts[3] > MOST)
        goto damaged;
    Py_ssize_t count = (Py_ssize_t)counts[1] + counts[2] + counts[3], there = (Py_ssize_t)counts[4] + counts[5];
    Stream stream = {from, end - from};
    Py_ssize_t gaps = 8 * bytes_for(KIND * count), at = gaps + 8 * bytes_for(GAP_KIND * (Py_ssize_t)counts[4]);
    if (there > MOST || at > 8 * stream.length || (Py_ssize_t)counts[5] > length - CHECK)
        goto damaged;
    out = PyBytes_FromStringAndSize(NULL, HEADER + WIDTH * count + SHORT * there);
    if (!out)
        return NULL;
    unsigned char *to = (unsigned char *)PyBytes_AS_STRING(out);
    for (int field = 0; field < 5; field++) {
        uint32_t value = field < 4 ? counts[field] : (uint32_t)there;
        to[2 * field] = (unsigned char)value;
        to[2 * field + 1] = (unsigned char)(value >> 8);
    }
    to += HEADER;
    if (count)
        at = read_codes(stream, at, (uint32_t)count, table->words, to);
    if ((at || !count) && there)
        at = read_there(stream, gaps, at, counts + 4, table, to + WIDTH * count);
    to[WIDTH * count + SHORT * there] = 0; /* that a code was written over */
    if ((at || !(count + there)) && bytes_for(at) == stream.length)
        return out;
damaged:
    Py_XDECREF(out);
    PyErr_SetString(PyExc_ValueError, "a segment is not as it was written");
    return NULL;
}

static PyObject *restore(PyObject *object, uint64_t number, void *known)
{
    if (PyBytes_Check(object))
        return restore_bytes((const unsigned char *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), number, known);
    PyErr_SetString(PyExc_ValueError, "a segment is not as it was written");
    return NULL;
}

/* Three files as they lie in memory, and the table. */
typedef struct {
    Table table;
    Py_buffer data, places, apart;
} Files;

/* Where the segment of a number lies, and its length: 0 where it is not there. */
static uint64_t place_of(const Files *files, uint64_t number, uint64_t *length)
{
    uint64_t own = number % IN_GROUP, group = number / IN_GROUP;
    *length = 0;
    if (group >= (uint64_t)files->places.len / GROUP)
        return 0;
    const unsigned char *from = (const unsigned char *)files->places.buf + GROUP * group, *lengths = from + PLACE;
    uint32_t before = 0, told = two_bytes(lengths + 2 * own);
    uint64_t place = 0;
    if (told & IS_APART) {
        if (number < (uint64_t)files->apart.len / PLACE)
            place = all_eight((const unsigned char *)files->apart.buf + PLACE * number);
        *length = place & ((1u << LENGTH) - 1);
        return place >> LENGTH;
    }
    for (uint64_t at = 0; at < own; at++)
        before += two_bytes(lengths + 2 * at) & LONGEST;
    place = all_eight(from);
    *length = place > (uint64_t)files->data.len ? 0 : told; /* so that the sum does not overflow */
    return place + before;
}

/* The segment of a number, restored from where it lies. */
static PyObject *restore_at(PyObject *item, uint64_t number, void *known)
{
    const Files *files = known;
    uint64_t at = 0, length = 0, size = (uint64_t)files->data.len;
    int is_beyond;
    if (PyLong_AsLongLongAndOverflow(item, &is_beyond) == -1 && PyErr_Occurred())
        return NULL;
    if (!is_beyond)
        at = place_of(files, number, &length);
    if (!length || at > size || length > size - at)
        return PyErr_Format(PyExc_ValueError, "segment %S is not there", item);
    return restore_bytes((const unsigned char *)files->data.buf + at, (Py_ssize_t)length, number, &files->table);
}

/* Do the same with each of some segments and its number. */
static PyObject *each(PyObject *segments, PyObject *numbers, PyObject *(*work)(PyObject *, uint64_t, void *), void *known)
{
    PyObject *items = PySequence_Tuple(segments), *own = items ? PySequence_Tuple(numbers) : NULL, *out = NULL;
    if (own && PyTuple_GET_SIZE(own) != PyTuple_GET_SIZE(items))
        PyErr_SetString(PyExc_ValueError, "each segment has one number");
    else if (own)
        out = PyList_New(PyTuple_GET_SIZE(items));
    for (Py_ssize_t at = 0; out && at < PyTuple_GET_SIZE(items); at++) {
        uint64_t number = PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(own, at));
        PyObject *made = PyErr_Occurred() ? NULL : work(PyTuple_GET_ITEM(items, at), number, known);
        if (!made) {
            Py_CLEAR(out);
            break;
        }
        PyList_SET_ITEM(out, at, made);
    }
    Py_XDECREF(items);
    Py_XDECREF(own);
    return out;
}

/* Numbers of short codes, one more than each; 0 where they are more than fit. */
static int number_shorts(uint16_t *numbers, const unsigned char *shorts, Py_ssize_t length)
{
    if (length > SHORT * SHORTS || length % SHORT) {
        PyErr_SetString(PyExc_ValueError, "not a table of words");
        return 0;
    }
    for (Py_ssize_t at = length / SHORT; at--;) /* the first of several at last */
        numbers[two_bytes(shorts + SHORT * at)] = (uint16_t)(at + 1);
    return 1;
}

static PyObject *shortened(PyObject *module, PyObject *args)
{
    PyObject *segments, *numbers, *items, *out = NULL;
    const unsigned char *words, *shorts;
    Py_ssize_t length, short_length, codes, most = -1;
    if (!PyArg_ParseTuple(args, "OOy#y#", &segments, &numbers, &words, &length, &shorts, &short_length))
        return NULL;
    items = PySequence_Tuple(segments);
    Shortening *work = items ? PyMem_Calloc(1, sizeof(Shortening)) : NULL;
    if (items && !work)
        PyErr_NoMemory();
    if (work)
        most = longest(items, &codes);
    if (most >= 0 && number_shorts(work->numbers, shorts, short_length) && table_slots(&work->table, words, length) && empty_slots(&work->last, most)) {
        /* A code becomes 27 bits at most; what is only there 16, as it was; the six numbers three bytes each. */
        work->made = PyMem_Malloc(CHECK + 3 * COUNTS + 4 * (size_t)most + SHORT * (size_t)MOST + 8);
        out = work->made ? each(items, numbers, shorten, work) : PyErr_NoMemory();
    }
    if (work) {
        PyMem_Free(work->table.all);
        PyMem_Free(work->last.all);
        PyMem_Free(work->made);
    }
    PyMem_Free(work);
    Py_XDECREF(items);
    return out;
}

/* Learning */

static int by_times(const void *left, const void *right)
{
    const Slot *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? 1 : -1;
    return a->word < b->word ? -1 : a->word > b->word;
}

/* Count the words and the short codes of every so manieth segment; words that stood shortly before are told by that, and not counted. */
static void count_all(PyObject *items, Py_ssize_t step, const Slots *times, const Slots *room, uint32_t *there)
{
    Py_ssize_t left = SAMPLE;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(items); at += step) {
        Segment segment;
        begin_packed(PySequence_Fast_GET_ITEM(items, at), &segment); /* as it was found to be */
        Slots last = own_slots(room, segment.count);
        const unsigned char *wide = segment.data + HEADER, *from = wide + WIDTH * segment.count;
        Py_ssize_t some = segment.count < left ? segment.count : left;
        left -= some;
        for (Py_ssize_t place = 0; place < some; place++) {
            uint32_t word = word_at(wide + WIDTH * place);
            Slot *before = slot_of(&last, word), *slot;
            if (!before->number || place + 1 - (Py_ssize_t)before->number > FARTHEST) {
                slot = slot_of(times, word);
                *slot = (Slot){word, slot->number + 1};
            }
            *before = (Slot){word, (uint32_t)place + 1};
        }
        for (Py_ssize_t place = 0; place < segment.there; place++) {
            uint32_t code = two_bytes(from + SHORT * place);
            if (there[code] >> 31)
                continue;
            there[code] = (there[code] + 1) | 1u << 31; /* met in this segment */
        }
        for (Py_ssize_t place = 0; place < segment.there; place++)
            there[two_bytes(from + SHORT * place)] &= ~(1u << 31);
    }
}

static Py_ssize_t at_most(Py_ssize_t room)
{
    Py_ssize_t least = room < LEAST ? room : LEAST;
    return room / SHARE > least ? room / SHARE : least;
}

/* Words to take into each class of a table, into a tuple. 0 with an error. */
static int choose(const Slots *times, const Slots *table, const Py_ssize_t *taken, Py_ssize_t step, PyObject *out)
{
    Py_ssize_t count = 0, at = 0;
    for (size_t slot = 0; slot < (size_t)1 << times->bits; slot++) /* most words are too rare for any class: only the others are sorted */
        if ((uint64_t)times->all[slot].number * step * (bits_of[BARE] - bits_of[0]) > WORTH)
            times->all[count++] = times->all[slot];
    qsort(times->all, count, sizeof(Slot), by_times);
    for (int which = 0; which < CLASSES; which++) {
        Py_ssize_t most = at_most(((Py_ssize_t)1 << bits_of[which]) - taken[which]), found = 0;
        PyObject *words = PyBytes_FromStringAndSize(NULL, WIDTH * (most < count - at ? most : count - at));
        if (!words)
            return 0;
        for (; at < count && found < most; at++) {
            uint32_t word = times->all[at].word, number = slot_of(table, word)->number;
            int saved = bits_of[number ? class_of(number - 1) : BARE] - bits_of[which];
            if (!word || saved <= 0 || (uint64_t)times->all[at].number * step * saved <= WORTH)
                continue;
            unsigned char *to = (unsigned char *)PyBytes_AS_STRING(words) + WIDTH * found++;
            for (int byte = 0; byte < WIDTH; byte++)
                to[byte] = (unsigned char)(word >> 8 * byte);
        }
        if (_PyBytes_Resize(&words, WIDTH * found) < 0)
            return 0;
        PyTuple_SET_ITEM(out, which, words);
    }
    return 1;
}

static PyObject *choose_shorts(const uint32_t *there, const uint16_t *numbers, Py_ssize_t known, Py_ssize_t step)
{
    Slot *often = PyMem_New(Slot, 1 << 16);
    if (!often)
        return PyErr_NoMemory();
    Py_ssize_t count = 0, most = at_most(SHORTS - known);
    for (uint32_t code = 0; code <= MOST; code++)
        if (!numbers[code] && (uint64_t)there[code] * step >= OFTEN)
            often[count++] = (Slot){code, there[code]};
    qsort(often, count, sizeof(Slot), by_times);
    count = count < most ? count : most;
    PyObject *out = PyBytes_FromStringAndSize(NULL, SHORT * count);
    for (Py_ssize_t at = 0; out && at < count; at++) {
        PyBytes_AS_STRING(out)[SHORT * at] = (char)often[at].word;
        PyBytes_AS_STRING(out)[SHORT * at + 1] = (char)(often[at].word >> 8);
    }
    PyMem_Free(often);
    return out;
}

typedef struct {
    Slots table, times, last;
    uint32_t there[1 << 16];
    uint16_t numbers[1 << 16];
} Learning;

static PyObject *learnt(PyObject *module, PyObject *args)
{
    PyObject *segments, *items, *out = NULL;
    const unsigned char *words, *shorts;
    Py_ssize_t length, short_length, codes = 0, most = -1, taken[CLASSES];
    if (!PyArg_ParseTuple(args, "Oy#y#(nnnn)", &segments, &words, &length, &shorts, &short_length, taken, taken + 1, taken + 2, taken + 3))
        return NULL;
    for (int which = 0; which < CLASSES; which++)
        if (taken[which] < 0 || taken[which] > (Py_ssize_t)1 << bits_of[which]) {
            PyErr_SetString(PyExc_ValueError, "not a table of words");
            return NULL;
        }
    items = PySequence_Tuple(segments);
    Learning *work = items ? PyMem_Calloc(1, sizeof(Learning)) : NULL;
    if (items && !work)
        PyErr_NoMemory();
    if (work)
        most = longest(items, &codes);
    if (most >= 0 && number_shorts(work->numbers, shorts, short_length) && table_slots(&work->table, words, length) && empty_slots(&work->last, most) &&
        empty_slots(&work->times, codes < SAMPLE ? codes : SAMPLE)) {
        Py_ssize_t step = codes / SAMPLE + 1;
        count_all(items, step, &work->times, &work->last, work->there);
        out = PyTuple_New(CLASSES + 1);
        if (out && !choose(&work->times, &work->table, taken, step, out))
            Py_CLEAR(out);
        PyObject *new = out ? choose_shorts(work->there, work->numbers, short_length / SHORT, step) : NULL;
        if (new)
            PyTuple_SET_ITEM(out, CLASSES, new);
        else
            Py_CLEAR(out);
    }
    if (work) {
        PyMem_Free(work->table.all);
        PyMem_Free(work->times.all);
        PyMem_Free(work->last.all);
    }
    PyMem_Free(work);
    Py_XDECREF(items);
    return out;
}

/* A table as it is read: it has room for every number, so that each can be looked up; one byte is behind it. 0 with an error. */
static int table_of(PyObject *words, PyObject *shorts, Table *table)
{
    static const unsigned char nothing[SHORT];
    if (PyBytes_GET_SIZE(words) != WIDTH * (Py_ssize_t)ALL_WORDS) {
        PyErr_SetString(PyExc_ValueError, "not a table of words");
        return 0;
    }
    *table = (Table){(const unsigned char *)PyBytes_AS_STRING(words), nothing, PyBytes_GET_SIZE(shorts) / SHORT};
    if (table->short_count)
        table->shorts = (const unsigned char *)PyBytes_AS_STRING(shorts);
    return 1;
}

static PyObject *restored(PyObject *module, PyObject *args)
{
    PyObject *segments, *numbers, *words, *shorts;
    Table table;
    if (!PyArg_ParseTuple(args, "OOSS", &segments, &numbers, &words, &shorts) || !table_of(words, shorts, &table))
        return NULL;
    return each(segments, numbers, restore, &table);
}

static PyObject *read_all(PyObject *module, PyObject *args)
{
    PyObject *numbers, *words, *shorts;
    Files files;
    if (!PyArg_ParseTuple(args, "y*y*y*OSS", &files.data, &files.places, &files.apart, &numbers, &words, &shorts))
        return NULL;
    PyObject *out = table_of(words, shorts, &files.table) ? each(numbers, numbers, restore_at, &files) : NULL;
    PyBuffer_Release(&files.data);
    PyBuffer_Release(&files.places);
    PyBuffer_Release(&files.apart);
    return out;
}

static PyMethodDef methods[] = {
    {"shortened", shortened, METH_VARARGS, "Segments in fewer bytes."},
    {"learnt", learnt, METH_VARARGS, "The words to take into a table."},
    {"restored", restored, METH_VARARGS, "Segments as they were packed."},
    {"read", read_all, METH_VARARGS, "Segments as they were packed, by their numbers."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_brief", "What `brief` does for each code.", -1, methods};

PyMODINIT_FUNC PyInit__brief(void)
{
    /* Python's own secret, as its sets of words have it. */
    PyObject *word = PyUnicode_FromString("secret of brief");
    if (!word)
        return NULL;
    secret = (uint64_t)PyObject_Hash(word) * 0x9E3779B97F4A7C15u | 1;
    Py_DECREF(word);
    return PyModule_Create(&definition);
}
