internal import APNSCore
internal import FoundationEssentials

extension UUID {
  /// The form that PostgreSQL prints and APNs documents.
  package var lowercased: String {
    withUnsafeBytes(of: uuid) { bytes in HexadecimalDigits.uuid { bytes[$0] } }
  }
}
