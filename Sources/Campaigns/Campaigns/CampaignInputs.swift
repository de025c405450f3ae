internal import APNSCore
internal import CampaignRules
internal import FoundationEssentials
internal import PushStore

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

extension CampaignPush {
  /// A text for a finding, with what app and ledger get beside it.
  init(_ text: CampaignText, for finding: LayerFinding, of definition: CampaignDefinition, campaign: String) {
    var data = PayloadObject()
    for (key, value) in definition.payload.sorted(by: { $0.key < $1.key }) { data[key] = .string(value) }
    data["push_type"] = .string(finding.pushType.rawValue)
    if let domain = finding.domain { data["domain"] = .string(domain) }
    self.init(
      pushType: finding.pushType.rawValue, title: text.title, body: text.body,
      data: String(decoding: data.encoded(), as: UTF8.self),
      metadata: JSONText.of(LedgerMetadata(finding: finding.metadata, campaign: campaign)))
  }
}

/// The finding's metadata and the campaign's name, side by side.
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
