internal import COpenSSL
internal import Cryptography

/// A private certificate authority in memory, for simulators, demonstrations and tests.
///
/// Keys are P-256. Nothing is written to disk, and the authority's key cannot be read.
package final class CertificateAuthority {
  /// A certificate and its key, as PEM text.
  package struct Identity: Sendable {
    /// One certificate, issued by the authority.
    package let certificate: String
    /// The unencrypted key. A secret.
    package let key: String
  }

  /// The authority's certificate as PEM text, for clients to trust.
  package let certificate: String

  private let key = P256.generate()
  private let root: OpaquePointer

  /// A new authority.
  /// - Parameter validity: when the certificate is valid, in seconds from now.
  package init(name: String, validity: Range<Int> = -60..<86_400 * 365) throws(TLSError) {
    ErrorQueue.clear()
    guard let root = X509_new() else { throw ErrorQueue.configurationError("certificate of \(name)") }
    self.root = root
    Self.describe(root, name: name, key: key.pointer, validity: validity)
    Self.extend(root, NID_basic_constraints, "critical,CA:TRUE")
    Self.extend(root, NID_key_usage, "critical,keyCertSign,cRLSign")
    X509_set_issuer_name(root, X509_get_subject_name(root))
    guard X509_sign(root, key.pointer, EVP_sha256()) > 0 else {
      throw ErrorQueue.configurationError("certificate of \(name)")
    }
    certificate = MemoryBIO.text { PEM_write_bio_X509($0, root) }
  }

  deinit {
    X509_free(root)
  }

  /// Issues a server's certificate with a new key.
  /// - Parameters:
  ///   - hosts: the subject's alternative names: names and numeric addresses, at least one.
  ///   - validity: in seconds from now. A range in the past makes an expired certificate.
  package func issue(
    for hosts: [String], validity: Range<Int> = -60..<86_400 * 30
  ) throws(TLSError) -> Identity {
    ErrorQueue.clear()
    guard let leaf = X509_new() else { throw ErrorQueue.configurationError("certificate for \(hosts)") }
    defer { X509_free(leaf) }
    let key = P256.generate()
    Self.describe(leaf, name: hosts.first ?? "", key: key.pointer, validity: validity)
    Self.extend(leaf, NID_subject_alt_name, Self.alternativeNames(hosts))
    X509_set_issuer_name(leaf, X509_get_subject_name(root))
    guard X509_sign(leaf, self.key.pointer, EVP_sha256()) > 0 else {
      throw ErrorQueue.configurationError("certificate for \(hosts)")
    }
    return Identity(
      certificate: MemoryBIO.text { PEM_write_bio_X509($0, leaf) },
      key: MemoryBIO.text { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) })
  }

  private static func describe(_ certificate: OpaquePointer, name: String, key: OpaquePointer, validity: Range<Int>) {
    X509_set_version(certificate, 2)  // Counted from zero: version 3.
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1...UInt64.max >> 1))
    X509_gmtime_adj(X509_getm_notBefore(certificate), validity.lowerBound)
    X509_gmtime_adj(X509_getm_notAfter(certificate), validity.upperBound)
    X509_set_pubkey(certificate, key)
    let bytes = Array(name.utf8.prefix(64))  // RFC 5280 ub-common-name.
    X509_NAME_add_entry_by_NID(
      X509_get_subject_name(certificate), NID_commonName, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
  }

  private static func alternativeNames(_ hosts: [String]) -> String {
    hosts.map { isNumeric($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
  }

  private static func isNumeric(_ host: String) -> Bool {
    let address = a2i_IPADDRESS(host)
    defer { ASN1_OCTET_STRING_free(address) }
    return address != nil
  }

  private static func extend(_ certificate: OpaquePointer, _ kind: Int32, _ value: String) {
    let added = X509V3_EXT_conf_nid(nil, nil, kind, value)
    X509_add_ext(certificate, added, -1)
    X509_EXTENSION_free(added)
  }
}
