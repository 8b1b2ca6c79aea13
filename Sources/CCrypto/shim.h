#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/x509.h>

// OpenSSL takes the inputs of a key derivation as an array of parameters that
// point at them, which Swift could only build in nested closures. Returns 1,
// or 0 after a failure, as EVP_KDF(3) does.
static inline int mb_hkdf_sha256(
    const unsigned char *material, size_t material_size, const unsigned char *salt, size_t salt_size,
    const unsigned char *info, size_t info_size, unsigned char *key, size_t key_size) {
    char digest[] = "SHA2-256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)material, material_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_size),
        // Last, because without a salt the array ends here.
        salt_size == 0 ? OSSL_PARAM_construct_end()
                       : OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_size),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *function = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = function ? EVP_KDF_CTX_new(function) : NULL;
    int done = context && EVP_KDF_derive(context, key, key_size, parameters) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(function);
    return done;
}
