// libcurl. Options and information are set and read by variadic functions, which Swift cannot call: one typed function
// for each kind of argument.
#pragma once

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

/// Variadic.
static inline CURLcode clibcurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

/// Variadic.
static inline CURLcode clibcurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/// Variadic. libcurl copies the text.
static inline CURLcode clibcurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

/// Variadic. The caller keeps the list.
static inline CURLcode clibcurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

/// Variadic, and the flag is a macro. libcurl copies the bytes.
static inline CURLcode clibcurl_set_copied_blob(CURL *easy, CURLoption option, void *data, size_t length) {
  struct curl_blob blob = {data, length, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, &blob);
}

/// Variadic. Body and header lines have callbacks of one type.
static inline CURLcode clibcurl_set_data_callbacks(
    CURL *easy, curl_write_callback body, curl_write_callback header, void *context) {
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  return curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}

/// Variadic. The buffer has CURL_ERROR_SIZE bytes and lives as long as the handle.
static inline CURLcode clibcurl_set_error_buffer(CURL *easy, char *buffer) {
  return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

/// Variadic. The callback opens the socket of a new connection, or returns CURL_SOCKET_BAD.
static inline CURLcode clibcurl_set_open_socket_callback(CURL *easy, curl_opensocket_callback open, void *context) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

/// Variadic. The callback is asked before each sending of the request, and aborts the transfer with CURL_PREREQFUNC_ABORT.
static inline CURLcode clibcurl_set_sending_callback(CURL *easy, curl_prereq_callback send, void *context) {
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, send);
  return curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

/// Opens a socket as libcurl does without a callback, but closed in programs that this process starts.
static inline curl_socket_t clibcurl_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// The host as text, for IPv4 and IPv6; null for other families.
static inline const char *clibcurl_numeric_host(
    const struct curl_sockaddr *address, char text[INET6_ADDRSTRLEN]) {
  if (address->family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->addr;
    return inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
  }
  if (address->family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->addr;
    return inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
  }
  return 0;
}

/// Variadic. New versions deprecate the older option.
static inline CURLcode clibcurl_allow_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// Variadic.
static inline CURLcode clibcurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

/// The argument is a macro over an enumerator. The file that libcurl was built to read the system's authorities from.
static inline const char *clibcurl_authorities_file(void) { return curl_version_info(CURLVERSION_NOW)->cainfo; }

/// Variadic.
static inline CURLMcode clibcurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// Variadic. Null removes a callback.
static inline CURLMcode clibcurl_multi_set_callbacks(
    CURLM *multi, curl_socket_callback sockets, curl_multi_timer_callback timer, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  return curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
