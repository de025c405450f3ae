// OpenSSL 3. Parts of its interface are macros over `SSL_ctrl` or variadic, and Swift sees neither.
#pragma once

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// A macro over `SSL_CTX_ctrl`.
static inline int copenssl_require_tls12(SSL_CTX *context) {
  return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/// A macro over `SSL_CTX_ctrl`. A write may be partial, and a retry may have another address.
static inline void copenssl_allow_partial_moving_writes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

/// A macro over `SSL_CTX_ctrl`. One `read` takes all available bytes, instead of one for a record's head and one for its rest.
static inline void copenssl_read_ahead(SSL_CTX *context, size_t buffer_bytes) {
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, buffer_bytes);
}

/// A macro over `SSL_CTX_ctrl`.
static inline void copenssl_release_idle_buffers(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// The options are cast expressions, which the importer skips.
static inline void copenssl_refuse_renegotiation(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

/// A macro over `SSL_CTX_ctrl`, and an option as above. Tickets that a client never reads would turn its close into a
/// reset, which can destroy what it has just sent.
static inline void copenssl_issue_no_tickets(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

/// A macro over `SSL_CTX_ctrl`. Takes the certificate over on success.
static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

/// A macro over `SSL_ctrl`.
static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

/// A macro over `BIO_ctrl`.
static inline long copenssl_memory_contents(BIO *bio, char **contents) { return BIO_get_mem_data(bio, contents); }

/// The macro combines two others, which the importer skips.
static inline int copenssl_public_key_selection(void) { return EVP_PKEY_PUBLIC_KEY; }

/// The parameters keep the addresses of their names. A string of Swift has its address for one call only.
static inline int copenssl_start_hmac_sha256(EVP_MAC_CTX *context, const unsigned char *key, size_t key_bytes) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_init(context, key, key_bytes, parameters);
}

/// The builder keeps the addresses of names, as above.
static inline int copenssl_push_rsa_numbers(OSSL_PARAM_BLD *builder, const BIGNUM *modulus, const BIGNUM *exponent) {
  return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
         OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent);
}
