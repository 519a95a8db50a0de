#include "api/media_type.h"

#include <strings.h>

#include "base/banned.h"

#define UNKNOWN "application/octet-stream"

struct by_name {
    const char *extension;
    const char *type;
};

struct by_head {
    const char *head;
    size_t len;
    const char *type;
};

/* The types of the IANA registry, where it has them. */
static const struct by_name names[] = {
    {"7z", "application/x-7z-compressed"},
    {"a", "application/x-archive"},
    {"avi", "video/x-msvideo"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"class", "application/java-vm"},
    {"dll", "application/x-msdownload"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eot", "application/vnd.ms-fontobject"},
    {"epub", "application/epub+zip"},
    {"exe", "application/x-msdownload"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"ico", "image/vnd.microsoft.icon"},
    {"jar", "application/java-archive"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"mkv", "video/x-matroska"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"o", "application/x-object"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"pyc", "application/x-python-code"},
    {"so", "application/x-sharedlib"},
    {"sqlite", "application/vnd.sqlite3"},
    {"tar", "application/x-tar"},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ttf", "font/ttf"},
    {"wasm", "application/wasm"},
    {"wav", "audio/vnd.wave"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xz", "application/x-xz"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

#define HEAD(bytes, type)                                                                          \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, type                                                             \
    }

static const struct by_head heads[] = {
    HEAD("\x89PNG\r\n\x1a\n", "image/png"),
    HEAD("\xff\xd8\xff", "image/jpeg"),
    HEAD("GIF8", "image/gif"),
    HEAD("%PDF-", "application/pdf"),
    HEAD("PK\x03\x04", "application/zip"),
    HEAD("\x1f\x8b", "application/gzip"),
    HEAD("\xfd"
         "7zXZ",
         "application/x-xz"),
    HEAD("\x28\xb5\x2f\xfd", "application/zstd"),
    HEAD("BZh", "application/x-bzip2"),
    HEAD("\x7f"
         "ELF",
         "application/x-elf"),
    HEAD("\0asm", "application/wasm"),
    HEAD("SQLite format 3\0", "application/vnd.sqlite3"),
    HEAD("wOFF", "font/woff"),
    HEAD("wOF2", "font/woff2"),
    HEAD("OggS", "audio/ogg"),
    HEAD("fLaC", "audio/flac"),
};

static const char *by_extension(struct vcm_slice path)
{
    size_t at = path.len;

    while (at > 0 && path.data[at - 1] != '.' && path.data[at - 1] != '/')
        at--;
    if (at == 0 || path.data[at - 1] != '.')
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].extension) == path.len - at &&
            strncasecmp(names[i].extension, path.data + at, path.len - at) == 0)
            return names[i].type;
    return NULL;
}

const char *vcm_media_type_of(struct vcm_slice path, struct vcm_slice head)
{
    const char *type = by_extension(path);

    for (size_t i = 0; !type && i < sizeof heads / sizeof heads[0]; i++)
        if (head.len >= heads[i].len && memcmp(head.data, heads[i].head, heads[i].len) == 0)
            type = heads[i].type;
    return type ? type : UNKNOWN;
}
