internal import CampaignRules
internal import Logging
internal import PushStore

/// The campaigns that can be run: those whose definitions can be read.
struct CampaignCatalogue {
  private(set) var definitions: [String: CampaignDefinition] = [:]
  private(set) var scheduled: [String] = []
  /// All that are active, whether or not their definitions can be read.
  private(set) var active: Set<String> = []
  private var texts: [String: String] = [:]

  /// Takes over what the database has. A definition is read again when it has changed; one that cannot be read is told
  /// once, and its users are given up for the day.
  mutating func update(_ stored: [StoredCampaign], logger: Logger) {
    for campaign in stored where texts[campaign.name] != campaign.definition {
      texts[campaign.name] = campaign.definition
      do throws(CampaignDefinitionDefect) {
        definitions[campaign.name] = try CampaignDefinition(json: campaign.definition)
      } catch {
        definitions[campaign.name] = nil
        logger.error(
          "a campaign's definition cannot be used", metadata: ["campaign": "\(campaign.name)", "defect": "\(error)"])
      }
    }
    active = Set(stored.map(\.name))
    definitions = definitions.filter { active.contains($0.key) }
    texts = texts.filter { active.contains($0.key) }
    scheduled = stored.filter { $0.isScheduled && definitions[$0.name] != nil }.map(\.name)
  }
}
