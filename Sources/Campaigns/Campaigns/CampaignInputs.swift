internal import CampaignRules
internal import FoundationEssentials

/// What is recorded of a decision for whoever asks later: which rules said what, in numbers; what was found; who wrote.
///
/// No text of anybody is in it, and there is no room for any: rules and figures are enumerations, the finding's metadata is
/// what the ledger keeps as well.
struct CampaignInputs: Encodable {
  /// Who wrote the push, or tried to.
  struct Writing: Encodable, Equatable {
    /// `model` or `template`.
    var by: String
    /// Why the model's reply, or the lack of one, was not used.
    var failure: String?
  }

  var notes: [LayerNote] = []
  var finding: FindingMetadata?
  var writing: Writing?

  /// As JSON.
  var json: String { JSONText.of(self) }
}

/// Values whose encoding cannot fail.
enum JSONText {
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) cannot be encoded") }
    return String(decoding: data, as: UTF8.self)
  }
}
