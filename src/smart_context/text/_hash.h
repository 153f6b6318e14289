/* A number for a text, by which it is looked up in a table.

   In: bytes, and a secret of this process.  Out: 64 bits, each of which depends on every byte.
   Always: nobody who writes a text knows the secret: they cannot choose words that fall together. Both halves of each product are kept, because a
   bit of a text changes no lower bit of the low half: words that differ in their last letters alone would be the same in its low bits. */

#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t seed, factor; /* the factor is odd */
} Secret;

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t part_of(const unsigned char *text, size_t length)
{
    uint64_t part;
    uint32_t first, last;
    if (length >= 8) {
        memcpy(&part, text, 8);
        return part;
    }
    if (length >= 4) {
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        return (uint64_t)first << 32 | last;
    }
    return length ? (uint64_t)text[0] << 16 | (uint64_t)text[length / 2] << 8 | text[length - 1] : 0;
}

static inline uint64_t hash_of(Secret secret, const unsigned char *text, size_t length)
{
    uint64_t hash = secret.seed ^ length;
    for (; length > 8; text += 8, length -= 8)
        hash = mixed(hash ^ part_of(text, 8), secret.factor);
    return mixed(hash ^ part_of(text, length), secret.factor);
}

/* Whether two texts of a length are the same: words are short, and most of the time is spent here. */
static inline int is_equal(const unsigned char *one, const unsigned char *other, size_t length)
{
    if (length > 16)
        return !memcmp(one, other, length);
    if (length > 8 && part_of(one + length - 8, 8) != part_of(other + length - 8, 8))
        return 0;
    return part_of(one, length) == part_of(other, length);
}
