/* What `known` does for each file of an unchanged folder: look whether it is as it was recorded.

   In: what is recorded of files, then one folder after the other.  Out: for each folder what is not as it is known, and how many files are.
   Always: the answer is that of `known.py`, which does the same where this could not be compiled. Nothing is opened, and no link is followed. */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_getdents64
#error "only Linux lists folders so"
#endif

#if PY_VERSION_HEX >= 0x030E0000
#define hash_of(bytes, length) ((uint64_t)Py_HashBuffer(bytes, length))
#else
#define hash_of(bytes, length) ((uint64_t)_Py_HashBytes(bytes, length))
#endif

enum { BUFFER = 32768, SHORTEST = 24, MOST = BUFFER / SHORTEST }; /* bytes of entries that are listed at once; those of an entry; how many fit */
enum { NEITHER, FOLDER, REGULAR };                                 /* what an entry is */
static const int64_t SECOND = 1000000000;
static const uint32_t NOTHING = UINT32_MAX;

/* A file that is recorded: its numbers; where its path begins, how long the folder's part of it is, and the name after the slash. */
typedef struct {
    uint64_t hash;
    int64_t file_id, size, time;
    size_t path;
    uint32_t folder, name;
    int is_out;
} File;

/* An entry of a folder as the kernel lists it. */
typedef struct {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
} Entry;

/* An entry that was looked at. */
typedef struct {
    const Entry *entry;
    int kind, is_met;
} Seen;

typedef struct {
    PyObject_HEAD
    File *files;
    char *paths;
    uint32_t *slots; /* by hash: the number of a file, or NOTHING */
    uint32_t *met;   /* in the folder that was listed last */
    size_t count, room, used, space, mask, met_count, met_room, left;
    PyObject *telling;
    char begins[256]; /* whether a telling name begins with a byte */
    int is_busy;
    Seen seen[MOST];
    _Alignas(8) char buffer[BUFFER];
} Known;

static const char *name_of(const Known *known, const File *file)
{
    return known->paths + file->path + file->folder + 1;
}

/* Names of one folder differ in the first, the same name in several folders in the second; neither can be chosen so that many meet. */
static uint64_t joined(uint64_t name, uint64_t folder)
{
    return name ^ (folder * 0x9E3779B97F4A7C15u >> 7);
}

static uint32_t *slot_of(const Known *known, uint64_t hash, const char *folder, size_t folder_length, const char *name, size_t length)
{
    for (size_t at = hash & known->mask;; at = (at + 1) & known->mask) {
        uint32_t number = known->slots[at];
        if (number == NOTHING)
            return &known->slots[at];
        const File *file = &known->files[number];
        if (file->hash == hash && file->name == length && file->folder == folder_length && !memcmp(name_of(known, file), name, length) &&
            !memcmp(known->paths + file->path, folder, folder_length))
            return &known->slots[at];
    }
}

/* Make room for one more of something; 0 where there is none. */
static int grow(void **place, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return 1;
    size_t more = 2 * needed + 64;
    void *grown = PyMem_RawRealloc(*place, more * size);
    if (!grown)
        return 0;
    *place = grown;
    *room = more;
    return 1;
}

/* Find the last slash of a path; its beginning where there is none, which is no path that a record holds. */
static int parted(const char *path, size_t length, uint32_t *folder, uint32_t *name)
{
    const char *slash = length < UINT32_MAX ? memrchr(path, '/', length) : NULL;
    if (!slash) {
        PyErr_SetString(PyExc_ValueError, "a path has a slash, and is not endless");
        return -1;
    }
    *folder = (uint32_t)(slash - path);
    *name = (uint32_t)(length - *folder - 1);
    return 0;
}

/* Take in what is recorded of a file. `folder` is the hash of the one before it, which is mostly in the same folder. */
static int add(Known *known, PyObject *row, uint64_t *folder)
{
    char *path;
    Py_ssize_t length;
    long long numbers[3];
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != 4 || !PyBytes_Check(PyTuple_GET_ITEM(row, 0))) {
        PyErr_SetString(PyExc_TypeError, "what is recorded of a file is expected");
        return -1;
    }
    for (int at = 0; at < 3; at++)
        if ((numbers[at] = PyLong_AsLongLong(PyTuple_GET_ITEM(row, at + 1))) == -1 && PyErr_Occurred())
            return -1;
    PyBytes_AsStringAndSize(PyTuple_GET_ITEM(row, 0), &path, &length);
    File file = {.file_id = numbers[0], .size = numbers[1], .time = numbers[2], .path = known->used};
    if (parted(path, length, &file.folder, &file.name) < 0)
        return -1;
    if (known->count >= NOTHING - 1 || !grow((void **)&known->files, &known->room, known->count + 1, sizeof(File)) ||
        !grow((void **)&known->paths, &known->space, known->used + length, 1)) {
        PyErr_NoMemory();
        return -1;
    }
    const File *before = known->count ? &known->files[known->count - 1] : NULL;
    if (!before || before->folder != file.folder || memcmp(known->paths + before->path, path, file.folder))
        *folder = hash_of(path, file.folder);
    file.hash = joined(hash_of(path + file.folder + 1, file.name), *folder);
    memcpy(known->paths + known->used, path, length);
    known->used += length;
    known->files[known->count++] = file;
    return 0;
}

/* Put every file where it is found by its hash. Of two with one path the last counts. */
static int arrange(Known *known)
{
    size_t size = 16;
    while (size < 2 * known->count)
        size *= 2;
    known->mask = size - 1;
    known->slots = PyMem_RawMalloc(size * sizeof(uint32_t));
    if (!known->slots) {
        PyErr_NoMemory();
        return -1;
    }
    memset(known->slots, 0xFF, size * sizeof(uint32_t));
    known->left = known->count;
    for (uint32_t number = 0; number < known->count; number++) {
        const File *file = &known->files[number];
        uint32_t *slot = slot_of(known, file->hash, known->paths + file->path, file->folder, name_of(known, file), file->name);
        if (*slot != NOTHING) {
            known->files[*slot].is_out = 1;
            known->left--;
        }
        *slot = number;
    }
    return 0;
}

static int read_rows(Known *known, PyObject *rows)
{
    PyObject *each = PyObject_GetIter(rows), *row;
    uint64_t folder = 0;
    int is_well = each != NULL;
    while (is_well && (row = PyIter_Next(each))) {
        is_well = add(known, row, &folder) == 0;
        Py_DECREF(row);
    }
    Py_XDECREF(each);
    return is_well && !PyErr_Occurred() ? 0 : -1;
}

static int read_telling(Known *known)
{
    PyObject *each = PyObject_GetIter(known->telling), *name;
    while (each && (name = PyIter_Next(each))) {
        const char *text = PyUnicode_AsUTF8(name);
        if (text)
            known->begins[(unsigned char)text[0]] = 1;
        Py_DECREF(name);
        if (!text)
            break;
    }
    Py_XDECREF(each);
    return PyErr_Occurred() ? -1 : 0;
}

static void known_free(PyObject *self)
{
    Known *known = (Known *)self;
    PyMem_RawFree(known->files);
    PyMem_RawFree(known->paths);
    PyMem_RawFree(known->slots);
    PyMem_RawFree(known->met);
    Py_XDECREF(known->telling);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *known_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    PyObject *rows, *telling;
    if (!PyArg_ParseTuple(arguments, "OO!", &rows, &PyFrozenSet_Type, &telling))
        return NULL;
    Known *known = (Known *)type->tp_alloc(type, 0);
    if (!known)
        return NULL;
    known->telling = Py_NewRef(telling);
    if (read_telling(known) < 0 || read_rows(known, rows) < 0 || arrange(known) < 0)
        Py_CLEAR(known);
    return (PyObject *)known;
}

static Py_ssize_t known_length(PyObject *self)
{
    return (Py_ssize_t)((Known *)self)->left;
}

/* As `changed_at` in model.py. */
static int64_t changed_at(const struct stat *info)
{
    const int64_t most = INT64_MAX / SECOND, rest = INT64_MAX % SECOND;
    int64_t seconds = info->st_mtim.tv_sec, more = info->st_mtim.tv_nsec;
    if (seconds > most || (seconds == most && more > rest))
        return INT64_MAX;
    if (seconds < -most - 1 || (seconds == -most - 1 && SECOND - more > rest))
        return -INT64_MAX;
    return seconds < 0 ? (seconds + 1) * SECOND - (SECOND - more) : seconds * SECOND + more;
}

static int is_as_known(const File *file, const struct stat *info)
{
    return S_ISREG(info->st_mode) && file->size == info->st_size && file->time == changed_at(info);
}

static int kind_of(int type, int is_there, int error, const struct stat *info)
{
    if (type != DT_UNKNOWN)
        return type == DT_DIR ? FOLDER : type == DT_REG ? REGULAR : NEITHER;
    if (!is_there) /* what cannot be looked at is reported when its turn comes */
        return error == ENOENT ? NEITHER : REGULAR;
    return S_ISDIR(info->st_mode) ? FOLDER : S_ISREG(info->st_mode) ? REGULAR : NEITHER;
}

/* A folder that is listed. */
typedef struct {
    int fd;
    const char *path;
    size_t length;
    uint64_t hash;
} Folder;

/* Look at an entry; 0 where memory is short. Python's lock is not held. */
static int look_at(Known *known, const Folder *folder, const Entry *entry, Seen *seen)
{
    size_t length = strlen(entry->name);
    uint64_t hash = joined(hash_of(entry->name, length), folder->hash);
    uint32_t number = *slot_of(known, hash, folder->path, folder->length, entry->name, length);
    File *file = number == NOTHING || known->files[number].is_out ? NULL : &known->files[number];
    struct stat info;
    int is_there = (file || entry->type == DT_UNKNOWN) && fstatat(folder->fd, entry->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    *seen = (Seen){.entry = entry, .kind = kind_of(entry->type, is_there, errno, &info)};
    if (!file || !is_there || !is_as_known(file, &info))
        return 1;
    if (!grow((void **)&known->met, &known->met_room, known->met_count + 1, sizeof(uint32_t)))
        return 0;
    seen->is_met = file->is_out = 1;
    known->met[known->met_count++] = number;
    known->left--;
    return 1;
}

/* Look at the next entries of a folder; how many, 0 at its end, -1 with an error of the system. Other threads go on meanwhile: a disk may be far away. */
static int look(Known *known, const Folder *folder)
{
    int count, error = 0;
    long bytes;
    Py_BEGIN_ALLOW_THREADS
    do { /* a folder with nothing but itself and its parent is not at its end before it says so */
        count = 0;
        do
            bytes = syscall(SYS_getdents64, folder->fd, known->buffer, (size_t)BUFFER);
        while (bytes < 0 && errno == EINTR);
        error = bytes < 0 ? errno : 0;
        for (long at = 0; at < bytes && !error;) {
            const Entry *entry = (const Entry *)(known->buffer + at);
            at += entry->length;
            if (!entry->inode || !strcmp(entry->name, ".") || !strcmp(entry->name, "..")) /* without an inode: deleted, as `readdir` has it */
                continue;
            if (!look_at(known, folder, entry, &known->seen[count++]))
                error = ENOMEM;
        }
    } while (bytes > 0 && !count && !error);
    Py_END_ALLOW_THREADS
    errno = error;
    return error ? -1 : count;
}

/* What is told of a folder. */
typedef struct {
    PyObject *entries, *telling;
    int is_odd;
} Told;

static int tell(const Known *known, const Seen *seen, Told *told)
{
    const char *name = seen->entry->name;
    int may_tell = known->begins[(unsigned char)name[0]], is_left = !seen->is_met && seen->kind != NEITHER, found = 0;
    told->is_odd |= name[0] == '.' || (name[0] == '~' && name[1] == '$');
    if (!may_tell && !is_left)
        return 0;
    PyObject *text = PyUnicode_DecodeFSDefault(name);
    if (text && may_tell && (found = PySet_Contains(known->telling, text)) > 0)
        found = PySet_Add(told->telling, text);
    PyObject *entry = text && found >= 0 && is_left ? PyTuple_Pack(2, text, seen->kind == FOLDER ? Py_True : Py_False) : NULL;
    if (entry && PyList_Append(told->entries, entry) < 0)
        Py_CLEAR(entry);
    int is_well = text && found >= 0 && (entry || !is_left);
    Py_XDECREF(text);
    Py_XDECREF(entry);
    return is_well ? 0 : -1;
}

static void put_all_back(Known *known)
{
    while (known->met_count) {
        known->files[known->met[--known->met_count]].is_out = 0;
        known->left++;
    }
}

/* List a folder whose path is encoded; with an exception where that cannot be done. */
static void list(Known *known, int fd, PyObject *path, Told *told)
{
    Folder folder = {.fd = fd, .path = PyBytes_AS_STRING(path), .length = PyBytes_GET_SIZE(path)};
    int count;
    folder.hash = hash_of(folder.path, folder.length);
    known->met_count = 0;
    while ((count = look(known, &folder)) > 0)
        for (int at = 0; at < count; at++)
            if (tell(known, &known->seen[at], told) < 0)
                return;
    if (count < 0)
        PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *listed(PyObject *self, PyObject *arguments)
{
    Known *known = (Known *)self;
    PyObject *path, *answer = NULL;
    int fd;
    if (!PyArg_ParseTuple(arguments, "iO&", &fd, PyUnicode_FSConverter, &path))
        return NULL;
    Told told = {.entries = PyList_New(0), .telling = PySet_New(NULL)};
    if (known->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread lists a folder");
    } else if (told.entries && told.telling) {
        known->is_busy = 1;
        list(known, fd, path, &told);
        known->is_busy = 0;
        if (PyErr_Occurred())
            put_all_back(known);
        else
            answer = Py_BuildValue("nOOO", (Py_ssize_t)known->met_count, told.entries, told.telling, told.is_odd ? Py_True : Py_False);
    }
    Py_DECREF(path);
    Py_XDECREF(told.entries);
    Py_XDECREF(told.telling);
    return answer;
}

static PyObject *text_of(const Known *known, const File *file)
{
    return PyUnicode_DecodeFSDefaultAndSize(name_of(known, file), file->name);
}

static PyObject *met(PyObject *self, PyObject *nothing)
{
    const Known *known = (const Known *)self;
    PyObject *names = PyList_New((Py_ssize_t)known->met_count);
    for (size_t at = 0; names && at < known->met_count; at++) {
        PyObject *name = text_of(known, &known->files[known->met[at]]);
        if (name)
            PyList_SET_ITEM(names, (Py_ssize_t)at, name);
        else
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *put_back(PyObject *self, PyObject *arguments)
{
    Known *known = (Known *)self;
    PyObject *names = Py_None;
    size_t kept = 0;
    if (!PyArg_ParseTuple(arguments, "|O", &names))
        return NULL;
    if (names == Py_None)
        put_all_back(known);
    for (size_t at = 0; at < known->met_count; at++) {
        File *file = &known->files[known->met[at]];
        PyObject *name = text_of(known, file);
        int is_back = name ? PySequence_Contains(names, name) : -1;
        Py_XDECREF(name);
        if (is_back < 0)
            return NULL;
        if (is_back) {
            file->is_out = 0;
            known->left++;
        } else {
            known->met[kept++] = known->met[at];
        }
    }
    known->met_count = kept;
    return PyLong_FromSize_t(kept);
}

static PyObject *take(PyObject *self, PyObject *path)
{
    Known *known = (Known *)self;
    PyObject *encoded;
    uint32_t folder, name;
    if (!PyUnicode_FSConverter(path, &encoded))
        return NULL;
    const char *text = PyBytes_AS_STRING(encoded);
    uint32_t number = NOTHING;
    if (parted(text, PyBytes_GET_SIZE(encoded), &folder, &name) == 0) {
        uint64_t hash = joined(hash_of(text + folder + 1, name), hash_of(text, folder));
        number = *slot_of(known, hash, text, folder, text + folder + 1, name);
    }
    Py_DECREF(encoded);
    if (PyErr_Occurred())
        return NULL;
    if (number == NOTHING || known->files[number].is_out)
        Py_RETURN_NONE;
    File *file = &known->files[number];
    file->is_out = 1;
    known->left--;
    return Py_BuildValue("LLL", (long long)file->file_id, (long long)file->size, (long long)file->time);
}

static PyObject *left(PyObject *self, PyObject *nothing)
{
    const Known *known = (const Known *)self;
    PyObject *found = PyList_New(0);
    for (size_t number = 0; found && number < known->count; number++) {
        const File *file = &known->files[number];
        if (file->is_out)
            continue;
        PyObject *path = PyUnicode_DecodeFSDefaultAndSize(known->paths + file->path, (Py_ssize_t)file->folder + 1 + file->name);
        PyObject *one = path ? Py_BuildValue("NL", path, (long long)file->file_id) : NULL;
        if (!one || PyList_Append(found, one) < 0)
            Py_CLEAR(found);
        Py_XDECREF(one);
    }
    return found;
}

static PyObject *identity(PyObject *self, PyObject *number)
{
    struct stat info;
    long fd = PyLong_AsLong(number);
    if (fd == -1 && PyErr_Occurred())
        return NULL;
    if (fd < INT_MIN || fd > INT_MAX) {
        PyErr_SetString(PyExc_OverflowError, "no descriptor has this number");
        return NULL;
    }
    if (fstat((int)fd, &info) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    return Py_BuildValue("KK", (unsigned long long)info.st_dev, (unsigned long long)info.st_ino);
}

static PyMethodDef functions[] = {
    {"identity", identity, METH_O, "The device and the number there of what is open."},
    {NULL},
};

static PyMethodDef methods[] = {
    {"listed", listed, METH_VARARGS, "List a folder: how many files were met, the other entries, telling names, and whether a name is odd."},
    {"met", met, METH_NOARGS, "The names that were met in the folder that was listed last."},
    {"put_back", put_back, METH_VARARGS, "Make some files known again that were met in the folder that was listed last, or all; how many are met still."},
    {"take", take, METH_O, "What is known of a file, which is then known no longer."},
    {"left", left, METH_NOARGS, "The path and number of every file that is known still."},
    {NULL},
};

static PySequenceMethods as_sequence = {.sq_length = known_length};

static PyTypeObject known_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "smart_context.sources._known.Known",
    .tp_basicsize = sizeof(Known),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Files that are recorded, but for those that were met.",
    .tp_new = known_new,
    .tp_dealloc = known_free,
    .tp_methods = methods,
    .tp_as_sequence = &as_sequence,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_known", "What `known` does for each file of an unchanged folder.", -1, functions};

PyMODINIT_FUNC PyInit__known(void)
{
    PyObject *made = PyType_Ready(&known_type) == 0 ? PyModule_Create(&module) : NULL;
    if (made && PyModule_AddObjectRef(made, "Known", (PyObject *)&known_type) < 0)
        Py_CLEAR(made);
    return made;
}
