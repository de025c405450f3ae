internal import COpenSSL
internal import Cryptography

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
  ///
  /// A client's stream has verified the issuer. A server's stream has not: the certificate may be self-issued.
  package var peerCertificate: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(handle) else { return nil }
    defer { X509_free(certificate) }
    return PEM.der(of: certificate)
  }
}
