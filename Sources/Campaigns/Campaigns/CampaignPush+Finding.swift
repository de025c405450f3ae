internal import APNSCore
internal import CampaignRules
internal import FoundationEssentials
internal import PushStore

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
