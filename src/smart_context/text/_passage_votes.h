/* The language that the words of a text speak for, for `_passage.c`: as `languages._weighed` adds it up.

   Always: words with flags have their numbers in the order of the words. Where letters may speak for a language too, it is left to Python. */

static int has_rare_letter(const Table *table, const unsigned char *text, size_t length)
{
    for (size_t at = 0; at + 1 < length; at++) {
        Py_UCS4 c = 0; /* letters of two and of three bytes; no rare one has more */
        if (text[at] >= 0xC0 && text[at] < 0xE0)
            c = (text[at] & 0x1Fu) << 6 | (text[at + 1] & 0x3F);
        else if (text[at] >= 0xE0 && text[at] < 0xF0 && at + 2 < length)
            c = (text[at] & 0x0Fu) << 12 | (text[at + 1] & 0x3Fu) << 6 | (text[at + 2] & 0x3F);
        if (c && class_of(table, c) & RARE)
            return 1;
    }
    return 0;
}

static int compare_numbers(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* Add up what words with flags say for each language, in the order of the words, because sums of fractions depend on it; the place of the best. */
static int best_of(const Table *table, uint32_t *told, size_t count, double *votes)
{
    double all[LANGUAGES] = {0};
    int best = 0;
    if (count)
        qsort(told, count, sizeof *told, compare_numbers);
    for (size_t at = 0; at < count; at++) {
        uint32_t languages = table->words.keys[told[at]].flags & ~(VOTES | ENGLISH | 1);
        double share = 1.0 / __builtin_popcount(languages);
        for (; languages; languages &= languages - 1)
            all[__builtin_ctz(languages)] += share;
    }
    for (int at = 1; at < LANGUAGES; at++)
        if (all[at] > all[best])
            best = at;
    *votes = all[best];
    return best;
}

static PyObject *table_votes(Table *self, PyObject *arguments)
{
    PyObject *words, *found = NULL;
    Py_ssize_t most;
    uint32_t now = next_call(self), different = 0;
    Buffer told = {0};
    double votes;
    if (!PyArg_ParseTuple(arguments, "Sn", &words, &most) || check(self, words, NULL, 0) < 0)
        return NULL;
    for (Py_ssize_t at = 0; at < PyBytes_GET_SIZE(words) / 4; at++) {
        uint32_t number = number_at(PyBytes_AS_STRING(words), (size_t)at);
        Key *key = self->words.keys + number;
        if (!is_new(key, now))
            continue;
        different++;
        if (at < most && has_rare_letter(self, self->arena.data + key->start, key->length)) {
            found = Py_NewRef(Py_None);
            goto done;
        }
        if (key->flags & VOTES && append_number(&told, number) < 0)
            goto done;
    }
    size_t count = told.length / sizeof(uint32_t);
    int best = best_of(self, (uint32_t *)told.data, count, &votes);
    found = Py_BuildValue("(idnI)", best, votes, (Py_ssize_t)count, different);
done:
    PyMem_Free(told.data);
    return found;
}
