internal import FoundationEssentials
internal import PushRules
internal import PushStore

/// The record that explains a decision: the rules with their numbers, the finding and the writer.
///
/// It cannot contain text of a user: rules and figures are enumerations, and the ledger stores the same metadata.
struct CampaignInputs: Encodable {
  /// The writer of the push, also of a failed one.
  struct Writing: Encodable, Equatable {
    /// `model` or `template`.
    var by: String
    /// Why the model's reply was not used; nil when it was.
    var failure: String?
  }

  var notes: [LayerNote] = []
  var finding: FindingMetadata?
  var writing: Writing?

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

extension WrittenCampaignPush {
  init(_ text: CampaignText, for finding: LayerFinding, of definition: CampaignDefinition, campaign: String) {
    var data = PayloadObject()
    for (key, value) in definition.payload(with: finding.facts) { data[key] = .string(value) }
    data["push_type"] = .string(finding.pushType.rawValue)
    if let domain = finding.domain { data["domain"] = .string(domain) }
    self.init(
      pushType: finding.pushType.rawValue, title: text.title, body: text.body,
      data: String(decoding: data.encoded(), as: UTF8.self),
      metadata: JSONText.of(LedgerMetadata(finding: finding.metadata, campaign: campaign)))
  }
}

/// The finding's metadata and the campaign's name in one object.
private struct LedgerMetadata: Encodable {
  let finding: FindingMetadata
  let campaign: String

  private enum Key: String, CodingKey { case campaign }

  func encode(to encoder: any Encoder) throws {
    try finding.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(campaign, forKey: .campaign)
  }
}
