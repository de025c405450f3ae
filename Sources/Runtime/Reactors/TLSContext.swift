internal import COpenSSL
internal import Cryptography
internal import Glibc

/// The settings that TLS connections of one kind share: trust or identity, versions, application protocols.
/// Make one per purpose at start-up and share it, also between reactors: where the system has its authorities in one file, loading
/// it takes megabytes and 20 milliseconds.
package final class TLSContext: @unchecked Sendable {
  // Unchecked because of the pointers. Safe: after the initializer the context is only read. OpenSSL counts its references
  // atomically and locks its caches.
  let handle: OpaquePointer
  /// The application protocols to offer or accept, in order of preference. Empty for no ALPN.
  package let protocols: [String]
  /// Whether to refuse a peer that offers no application protocol.
  let requiresProtocol: Bool
  /// `protocols` as on the wire (RFC 7301 §3.1), at a stable address for OpenSSL's callback.
  private let wireProtocols: UnsafeMutableBufferPointer<UInt8>

  /// Bytes that one `read` of the socket may take: four records of the largest size, 16 KiB.
  private static let readBufferBytes = 64 * 1024

  private init(
    method: OpaquePointer?, protocols: [String], requiresProtocol: Bool = true
  ) throws(TLSError) {
    ErrorQueue.clear()
    guard let handle = SSL_CTX_new(method) else { throw ErrorQueue.configurationError("SSL_CTX_new") }
    self.handle = handle
    self.protocols = protocols
    self.requiresProtocol = requiresProtocol
    let wire = protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
    wireProtocols = .allocate(capacity: wire.count)
    _ = wireProtocols.initialize(from: wire)
    guard protocols.allSatisfy({ 1...255 ~= $0.utf8.count }) else {
      throw TLSError(.configuration, operation: "application protocol names have 1 to 255 bytes")
    }
    guard copenssl_require_tls12(handle) == 1 else { throw ErrorQueue.configurationError("TLS 1.2 or later") }
    copenssl_allow_partial_moving_writes(handle)
    copenssl_read_ahead(handle, Self.readBufferBytes)
    copenssl_refuse_renegotiation(handle)
  }

  deinit {
    SSL_CTX_free(handle)
    wireProtocols.deallocate()
  }

  /// A client's context. It always verifies certificates and host names.
  /// - Parameter identity: the client's certificate, sent if the server asks for one; nil for none.
  package convenience init(
    trusting trust: TLSTrust = .system, presenting identity: CertificateAuthority.Identity? = nil, protocols: [String]
  ) throws(TLSError) {
    try self.init(method: TLS_client_method(), protocols: protocols)
    if let identity {
      try use(.text(identity.certificate))
      try use(key: .text(identity.key))
    }
    SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
    try trustSystem()
    if case .systemAnd(let pem) = trust { try addTrust(pem) }
    if !protocols.isEmpty {
      // Returns 0 for success, unlike its neighbours.
      guard SSL_CTX_set_alpn_protos(handle, wireProtocols.baseAddress, UInt32(wireProtocols.count)) == 0 else {
        throw ErrorQueue.configurationError("application protocols")
      }
    }
  }

  /// A server's context. It does not resume sessions: connections are few and long.
  /// - Parameters:
  ///   - certificate: the server's certificate first, then the intermediates.
  ///   - key: the unencrypted key of the first certificate.
  ///   - asksForCertificate: whether to ask clients for a certificate. A certificate of any issuer is accepted, and so is a
  ///     client without one: the caller judges ``TLSStream/peerCertificate``.
  ///   - requiresProtocol: false serves clients that offer no protocol. Clients that offer only others are always refused.
  ///   - releasesIdleBuffers: whether a connection frees its buffers, about 50 KiB, while they are empty.
  package convenience init(
    certificate: PEM, key: PEM, protocols: [String], asksForCertificate: Bool = false, requiresProtocol: Bool = true,
    releasesIdleBuffers: Bool = false
  ) throws(TLSError) {
    try self.init(method: TLS_server_method(), protocols: protocols, requiresProtocol: requiresProtocol)
    copenssl_issue_no_tickets(handle)
    if releasesIdleBuffers { copenssl_release_idle_buffers(handle) }
    if asksForCertificate { SSL_CTX_set_verify(handle, SSL_VERIFY_PEER) { _, _ in 1 } }
    try use(certificate)
    try use(key: key)
    if !protocols.isEmpty { selectProtocol() }
  }

  private func use(_ certificate: PEM) throws(TLSError) {
    var chain = try certificate.certificates()[...]
    defer { chain.forEach { X509_free($0) } }
    guard let own = chain.popFirst() else { return }
    defer { X509_free(own) }
    guard SSL_CTX_use_certificate(handle, own) == 1 else {
      throw ErrorQueue.configurationError("certificate in \(certificate.origin)")
    }
    while let intermediate = chain.first {
      guard copenssl_add_chain_certificate(handle, intermediate) == 1 else {
        throw ErrorQueue.configurationError("certificate chain in \(certificate.origin)")
      }
      chain.removeFirst()
    }
  }

  private func use(key pem: PEM) throws(TLSError) {
    let key = try pem.privateKey()
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(handle, key) == 1, SSL_CTX_check_private_key(handle) == 1 else {
      throw ErrorQueue.configurationError("private key in \(pem.origin)")
    }
  }

  /// The callback's argument is this object, unretained, because every `TLSStream` keeps its context alive.
  private func selectProtocol() {
    SSL_CTX_set_alpn_select_cb(
      handle,
      { _, selected, selectedLength, offered, offeredLength, argument in
        guard let argument, let selected else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let ours = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue().wireProtocols
        var choice: UnsafeMutablePointer<UInt8>?
        let outcome = SSL_select_next_proto(
          &choice, selectedLength, ours.baseAddress, UInt32(ours.count), offered, offeredLength)
        guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        selected.pointee = UnsafePointer(choice)
        return SSL_TLSEXT_ERR_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

package enum TLSTrust: Sendable {
  case system
  case systemAnd(PEM)
}

// Whom a client's context trusts.
extension TLSContext {
  /// Trusts the system's authorities.
  /// A folder of them under the hashes of their names, as Debian and others keep it, is looked into when a chain needs an
  /// authority. Elsewhere, and where the variable `SSL_CERT_FILE` names a file, all of them are loaded now.
  func trustSystem() throws(TLSError) {
    let folder = getenv(X509_get_default_cert_dir_env()) ?? UnsafeMutablePointer(mutating: X509_get_default_cert_dir())
    if let folder, getenv(X509_get_default_cert_file_env()) == nil, Self.isHashed(String(cString: folder)) {
      return try trust(folder: String(cString: folder))
    }
    guard SSL_CTX_set_default_verify_paths(handle) == 1 else {
      throw ErrorQueue.configurationError("the system's trust store")
    }
  }

  /// Trusts the authorities in a folder, each in a file `HASH.NUMBER`.
  func trust(folder: String) throws(TLSError) {
    ErrorQueue.clear()
    guard SSL_CTX_load_verify_dir(handle, folder) == 1 else {
      throw ErrorQueue.configurationError("trust in \(folder)")
    }
  }

  func addTrust(_ pem: PEM) throws(TLSError) {
    let certificates = try pem.certificates()
    defer { certificates.forEach { X509_free($0) } }
    let store = SSL_CTX_get_cert_store(handle)
    for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
      throw ErrorQueue.configurationError("trust in \(pem.origin)")
    }
  }

  /// Whether a folder has a file named like the hash of an authority's name: eight hexadecimal digits, and `.0`.
  static func isHashed(_ folder: String) -> Bool {
    guard let entries = opendir(folder) else { return false }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name.count == 10, name.suffix(2).elementsEqual(".0".utf8), name.prefix(8).allSatisfy(\.isHexadecimalDigit) {
        return true
      }
    }
    return false
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}

/// A source of certificates or of a key in PEM form.
package enum PEM: Sendable {
  /// The path of a file, which is read when the context is made.
  case file(String)
  case text(String)

  var origin: String {
    switch self {
    case .file(let path): path
    case .text: "PEM text"
    }
  }

  /// The certificates, in order. The caller frees them.
  /// - Throws: ``TLSError/Code/configuration`` when the source has none.
  func certificates() throws(TLSError) -> [OpaquePointer] {
    ErrorQueue.clear()
    let source = open()
    defer { BIO_free_all(source) }
    var certificates: [OpaquePointer] = []
    while let source, let certificate = PEM_read_bio_X509(source, nil, nil, nil) { certificates.append(certificate) }
    guard !certificates.isEmpty else { throw ErrorQueue.configurationError("no certificate in \(origin)") }
    // The end of the text is an error to OpenSSL.
    ErrorQueue.clear()
    return certificates
  }

  /// The private key. The caller frees it. The callback refuses a key with a passphrase, so OpenSSL does not ask for it on
  /// the terminal.
  func privateKey() throws(TLSError) -> OpaquePointer {
    ErrorQueue.clear()
    let source = open()
    defer { BIO_free_all(source) }
    guard let source, let key = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in 0 }, nil) else {
      throw ErrorQueue.configurationError("no usable private key in \(origin)")
    }
    return key
  }

  private func open() -> OpaquePointer? {
    switch self {
    case .file(let path): BIO_new_file(path, "r")
    case .text(let text): MemoryBIO.reading(text)
    }
  }
}

extension PEM {
  /// The certificates in binary form (DER), in order, to compare with ``TLSStream/peerCertificate``.
  /// - Throws: ``TLSError/Code/configuration`` when the source has none.
  package func certificatesAsDER() throws(TLSError) -> [[UInt8]] {
    try certificates().map { certificate in
      defer { X509_free(certificate) }
      return PEM.der(of: certificate)
    }
  }

  /// Empty if OpenSSL cannot write the certificate.
  fileprivate static func der(of certificate: OpaquePointer) -> [UInt8] {
    let size = max(0, i2d_X509(certificate, nil))
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      var end = buffer.baseAddress
      count = Int(max(0, i2d_X509(certificate, &end)))
    }
  }
}

extension TLSStream {
  /// The peer's certificate in binary form (DER), whose key the peer has proved to hold. Nil when the peer sent none.
  /// A client's stream has verified the issuer. A server's stream has not: the certificate may be self-issued.
  package var peerCertificate: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(handle) else { return nil }
    defer { X509_free(certificate) }
    return PEM.der(of: certificate)
  }
}

/// A private certificate authority in memory, for simulators, demonstrations and tests.
/// Keys are P-256. Nothing is written to disk, and the authority's key cannot be read.
package final class CertificateAuthority {
  package struct Identity: Sendable {
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

  deinit { X509_free(root) }

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
