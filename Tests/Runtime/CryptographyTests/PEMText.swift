import Foundation
import Testing

/// Changes to the bytes inside PEM texts.
enum PEMText {
  /// The text of one PEM block with one sequence of its bytes replaced by another of the same length.
  static func replacing(_ bytes: [UInt8], with others: [UInt8], in pem: String) throws -> String {
    let lines = pem.split(separator: "\n")
    var data = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
    if !bytes.isEmpty {
      let range = try #require(data.range(of: Data(bytes)))
      data.replaceSubrange(range, with: others)
    }
    return "\(lines[0])\n\(data.base64EncodedString(options: .lineLength64Characters))\n\(lines[lines.count - 1])\n"
  }
}
