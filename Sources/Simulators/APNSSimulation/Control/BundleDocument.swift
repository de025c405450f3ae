internal import SimulationControl

/// An app as scripts register it.
struct BundleDocument: ControlDocument {
  var bundle: String
  /// Nil when every team may push to it.
  var team: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case bundle = "bundle_id"
    case team = "team_id"
  }
}
