/// A refused key, or a failed operation with a key.
///
/// Holds no secret: the texts are constants of this module and of OpenSSL.
package struct CryptographyError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The operation, e.g. `P-256 public key`.
  package let operation: String

  /// Why it failed. OpenSSL's text has several entries, joined by `; `, and is empty when OpenSSL gave no reason.
  package let message: String

  package init(_ operation: String, _ message: String) {
    self.operation = operation
    self.message = message
  }

  package var description: String { message.isEmpty ? "\(operation) failed" : "\(operation) failed (\(message))" }
}
