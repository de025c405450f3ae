/// What the HTTP service proves itself with.
public struct TLSSettings: Equatable, Sendable {
  /// The certificate and its intermediates, as PEM text.
  public let certificate: String
  /// The certificate's key, as PEM text.
  public let key: Secret<String>

  /// Nil without TLS, and when a problem was noted.
  init?(_ reader: inout SettingsReader) {
    let hasCertificate = reader.text(.tlsCertificateFile) != nil
    let hasKey = reader.text(.tlsKeyFile) != nil
    if hasCertificate, !hasKey { reader.noteMissing(.tlsKeyFile) }
    if hasKey, !hasCertificate { reader.noteMissing(.tlsCertificateFile) }
    guard let certificate = reader.file(.tlsCertificateFile), let key = reader.file(.tlsKeyFile) else { return nil }
    self.certificate = certificate
    self.key = Secret(key)
  }
}
