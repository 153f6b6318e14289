/* What `walk` does for each file of an unchanged folder: look whether it is as it is known.

   In: a folder's descriptor, its path with a slash behind, its entries, what is known of files.  Out: the entries that are not as they are known.
   Always: the answer is that of `walk.py`, which does the same where this could not be compiled. Nothing is opened, and no link is followed. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

enum { SIZE = 2, TIME = 3, KNOWN = 4 }; /* places in what is known of a file */
enum { AT_ONCE = 64 };                   /* files that are looked at without a break */
static const int64_t SECOND = 1000000000;

/* Whether what is known has this number at a place; what is no such number is another. */
static int is_number(PyObject *stamp, Py_ssize_t place, int64_t number)
{
    PyObject *known = PyTuple_GET_ITEM(stamp, place);
    int overflow = 0;
    if (!PyLong_Check(known))
        return 0;
    long long value = PyLong_AsLongLongAndOverflow(known, &overflow);
    return !overflow && value == number;
}

/* An entry of a folder with its name and path: what is known of it, NULL where nothing is; its name as the system has it; its facts, if they could be had. All but
   `text` are owned. */
typedef struct {
    PyObject *entry, *name, *path, *stamp, *encoded;
    const char *text;
    struct stat info;
    int is_there;
} Waiting;

static void let_go(Waiting *one)
{
    Py_CLEAR(one->entry);
    Py_CLEAR(one->name);
    Py_CLEAR(one->path);
    Py_CLEAR(one->stamp);
    Py_CLEAR(one->encoded);
}

/* Find the name of an entry as the system has it. A name with a NUL is none. */
static int spell(Waiting *one)
{
    Py_ssize_t length;
    if (PyUnicode_IS_ASCII(one->name)) {
        one->text = PyUnicode_AsUTF8AndSize(one->name, &length);
    } else if ((one->encoded = PyUnicode_EncodeFSDefault(one->name))) {
        one->text = PyBytes_AS_STRING(one->encoded);
        length = PyBytes_GET_SIZE(one->encoded);
    }
    if (!one->text)
        return -1;
    if (strlen(one->text) != (size_t)length)
        one->text = NULL;
    return 0;
}

/* Take an entry in, with what is known of it. */
static int take_in(Waiting *one, PyObject *entry, PyObject *folder, PyObject *known)
{
    *one = (Waiting){.entry = entry, .name = PyObject_GetAttrString(entry, "name")};
    if (one->name && !PyUnicode_Check(one->name)) {
        PyErr_SetString(PyExc_TypeError, "a name is text");
        return -1;
    }
    one->path = one->name ? PyUnicode_Concat(folder, one->name) : NULL;
    if (!one->path)
        return -1;
    one->stamp = Py_XNewRef(PyDict_GetItemWithError(known, one->path));
    if (!one->stamp)
        return PyErr_Occurred() ? -1 : 0;
    if (!PyTuple_Check(one->stamp) || PyTuple_GET_SIZE(one->stamp) < KNOWN) {
        PyErr_SetString(PyExc_TypeError, "what is known of a file is expected");
        return -1;
    }
    return spell(one);
}

/* Ask for the facts of all that is known, once for many: other threads go on meanwhile, because a disk may be far away, and giving way to them has its price. */
static void look_at(int folder, Waiting *waiting, int count)
{
    Py_BEGIN_ALLOW_THREADS
    for (Waiting *one = waiting; one < waiting + count; one++)
        one->is_there = one->text && fstatat(folder, one->text, &one->info, AT_SYMLINK_NOFOLLOW) == 0;
    Py_END_ALLOW_THREADS
}

static int is_as_known(const Waiting *one)
{
    if (!one->stamp || !one->is_there || !S_ISREG(one->info.st_mode))
        return 0;
    int64_t seconds = one->info.st_mtim.tv_sec;
    if (seconds > INT64_MAX / SECOND - 1 || seconds < INT64_MIN / SECOND + 1)
        return 0;
    return is_number(one->stamp, TIME, seconds * SECOND + one->info.st_mtim.tv_nsec) && is_number(one->stamp, SIZE, one->info.st_size);
}

/* Take what is as it is known from one to the other. */
static int meet(const Waiting *one, PyObject *known, PyObject *names, PyObject *stamps)
{
    return PyList_Append(names, one->name) < 0 || PyList_Append(stamps, one->stamp) < 0 || PyDict_DelItem(known, one->path) < 0 ? -1 : 0;
}

/* What was met, and what is left, of some entries. */
typedef struct {
    PyObject *known, *names, *stamps, *left;
} Told;

static int sort_out(int folder, Waiting *waiting, int count, const Told *told)
{
    look_at(folder, waiting, count);
    for (const Waiting *one = waiting; one < waiting + count; one++)
        if ((is_as_known(one) ? meet(one, told->known, told->names, told->stamps) : PyList_Append(told->left, one->entry)) < 0)
            return -1;
    return 0;
}

static PyObject *unmet(PyObject *self, PyObject *arguments)
{
    int folder, count;
    PyObject *path, *found, *entry;
    Told told;
    Waiting waiting[AT_ONCE];
    if (!PyArg_ParseTuple(
            arguments, "iUOO!O!O!", &folder, &path, &found, &PyDict_Type, &told.known, &PyList_Type, &told.names, &PyList_Type, &told.stamps
        ))
        return NULL;
    PyObject *entries = PyObject_GetIter(found);
    told.left = entries ? PyList_New(0) : NULL;
    do {
        for (count = 0; told.left && count < AT_ONCE && (entry = PyIter_Next(entries)); count++)
            if (take_in(&waiting[count], entry, path, told.known) < 0)
                Py_CLEAR(told.left);
        if (told.left && (PyErr_Occurred() || sort_out(folder, waiting, count, &told) < 0))
            Py_CLEAR(told.left);
        for (int at = 0; at < count; at++)
            let_go(&waiting[at]);
    } while (told.left && count == AT_ONCE);
    Py_XDECREF(entries);
    return told.left;
}

static PyMethodDef methods[] = {
    {"unmet", unmet, METH_VARARGS, "The entries of a folder that are not as they are known; the others go from what is known to the names and stamps that were met."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_walk", "What `walk` does for each file of an unchanged folder.", -1, methods};

PyMODINIT_FUNC PyInit__walk(void)
{
    return PyModule_Create(&module);
}
