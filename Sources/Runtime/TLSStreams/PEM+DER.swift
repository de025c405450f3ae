internal import COpenSSL

extension PEM {
  /// Every certificate in its binary form (DER), in order: what ``TLSStream/peerCertificate`` can be compared with.
  /// - Throws: ``TLSError/Code/configuration`` when there is none.
  public func certificatesAsDER() throws(TLSError) -> [[UInt8]] {
    try certificates().map { certificate in
      defer { X509_free(certificate) }
      return PEM.der(of: certificate)
    }
  }

  /// Empty when OpenSSL cannot write the certificate, which it could read.
  static func der(of certificate: OpaquePointer) -> [UInt8] {
    let size = max(0, i2d_X509(certificate, nil))
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      var end = buffer.baseAddress
      count = Int(max(0, i2d_X509(certificate, &end)))
    }
  }
}

extension TLSStream {
  /// The certificate whose key the peer has proved to hold, in its binary form (DER); nil when it showed none.
  ///
  /// A client's stream has verified it. A server's has not: anybody can issue himself one.
  public var peerCertificate: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(handle) else { return nil }
    defer { X509_free(certificate) }
    return PEM.der(of: certificate)
  }
}
