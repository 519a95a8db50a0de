/*
 * secret.h - takes passwords and tokens out of URLs, for everything that is shown or stored.
 *
 * The user name and password before the host of a URL go, except for the user of ssh, which is part
 * of the address. So does everything from the first '?' or '#' on, where hosts accept tokens
 * ("?private_token=..."), except in file URLs. Errors and log lines pass through here as they are
 * made; what stores or prints an address as a value calls it itself. Any thread may call it.
 */
#ifndef VCM_BASE_SECRET_H
#define VCM_BASE_SECRET_H

/* In place; the whole text is one URL, also in the form "user@host:path", or a path, which stays as
 * it is. */
void vcm_secret_strip_url(char *url);

/* In place, from every URL in a text for people: there, a URL ends with a space. */
void vcm_secret_strip_text(char *text);

#endif
