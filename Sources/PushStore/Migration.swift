internal import Postgres

/// One file of `db/migrations`, built into the program.
public struct Migration: Sendable {
  /// The number in front of the file's name; versions are applied in order.
  public let version: Int

  /// The file's name without its ending, e.g. `0002_tacet_schema`.
  public let name: String

  let sql: String

  init(_ name: String, _ text: [UInt8]) {
    guard let version = Int(name.prefix(4)) else { preconditionFailure("\(name) does not begin with a version") }
    self.version = version
    self.name = name
    sql = String(decoding: text, as: UTF8.self)
  }

  /// The tables of the default host contract, for a database without an application.
  static let hostTables = String(decoding: PackageResources.host_tables_sql, as: UTF8.self)

  /// Every migration, in order.
  public static let all: [Migration] = [
    Migration("0001_host_tables", PackageResources._001_host_tables_sql),
    Migration("0002_tacet_schema", PackageResources._002_tacet_schema_sql),
    Migration("0003_host_contract", PackageResources._003_host_contract_sql),
    Migration("0004_message_trigger", PackageResources._004_message_trigger_sql),
    Migration("0005_holds", PackageResources._005_holds_sql),
    Migration("0006_retention", PackageResources._006_retention_sql),
    Migration("0007_listening", PackageResources._007_listening_sql),
    Migration("0008_dispositions", PackageResources._008_dispositions_sql),
    Migration("0009_presence", PackageResources._009_presence_sql),
    Migration("0010_devices", PackageResources._010_devices_sql),
    Migration("0011_kinds", PackageResources._011_kinds_sql),
    Migration("0012_preferences", PackageResources._012_preferences_sql),
    Migration("0013_pushes", PackageResources._013_pushes_sql),
    Migration("0014_history", PackageResources._014_history_sql),
    Migration("0015_operator_pages", PackageResources._015_operator_pages_sql),
    Migration("0016_explanations", PackageResources._016_explanations_sql),
    Migration("0017_pace", PackageResources._017_pace_sql),
    Migration("0018_campaigns", PackageResources._018_campaigns_sql),
    Migration("0019_ledger_index", PackageResources._019_ledger_index_sql),
    Migration("0020_closed_tables", PackageResources._020_closed_tables_sql),
    Migration("0021_queue", PackageResources._021_queue_sql),
    Migration("0022_contract_bounds", PackageResources._022_contract_bounds_sql),
    Migration("0023_zones", PackageResources._023_zones_sql),
    Migration("0024_erasure", PackageResources._024_erasure_sql),
    Migration("0025_devices", PackageResources._025_devices_sql),
    Migration("0026_campaign_slots", PackageResources._026_campaign_slots_sql),
  ]
}
