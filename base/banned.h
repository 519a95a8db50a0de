/*
 * banned.h - calls that have a safe replacement here. Every .c file includes it last, which
 * tests/style checks; using one of them is then a compile error.
 */
#ifndef VCM_BASE_BANNED_H
#define VCM_BASE_BANNED_H

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat stpcpy
#pragma GCC poison gets strtok scanf sscanf atoi atol atof
#undef alloca
#pragma GCC poison system popen alloca mktemp tmpnam tempnam
#pragma GCC poison localtime gmtime asctime ctime

#endif
