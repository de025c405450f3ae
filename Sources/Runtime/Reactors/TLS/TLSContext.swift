internal import COpenSSL
internal import Cryptography
internal import Glibc

/// The settings that TLS connections of one kind share: trust or identity, versions, application protocols.
///
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

/// The certificate authorities that a client trusts.
package enum TLSTrust: Sendable {
  case system
  case systemAnd(PEM)
}

// Whom a client's context trusts.
extension TLSContext {
  /// Trusts the system's authorities.
  ///
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
