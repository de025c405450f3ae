import FoundationEssentials
internal import TemporalReferences

/// What a host knows of one user for slots: values for all of them, and values for single ones.
///
/// ```json
/// {"name": "Ana", "skip": "already_done", "slots": {"0730": {"type": "Run"}, "0730.3": {"type": "Swim"}}}
/// ```
///
/// `slots` has values by slot, or by slot and weekday, which take precedence. `skip` says that nothing is to be said now.
package struct SlotMaterial: Equatable, Sendable {
  package enum Skip: String, Sendable {
    case alreadyDone = "already_done"
    /// Any other reason of the host.
    case notWanted = "not_wanted"
  }

  /// Why nothing is said; nil when nothing is known against it.
  package let skip: Skip?
  private let values: SlotValues
  private let bySlot: [String: SlotValues]

  /// Reads an object; nil for more than ``SlotValues/documentBytesMax`` bytes, and for text that is not a JSON object.
  package init?(json: String) {
    guard let values = SlotValues(json: json) else { return nil }
    self.values = values
    skip = values.lines["skip"].map { Skip(rawValue: $0) ?? .notWanted }
    // Most material has none, and a second reading takes as long as the first.
    bySlot = json.contains("\"slots\"") ? Self.bySlot(json) : [:]
  }

  private static func bySlot(_ json: String) -> [String: SlotValues] {
    let document = try? JSONDecoder().decode(Document.self, from: Data(json.utf8))
    return document?.slots ?? [:]
  }

  private struct Document: Decodable {
    let slots: [String: SlotValues]
  }

  package func values(for occasion: SlotOccasion) -> SlotValues {
    guard !bySlot.isEmpty else { return values }
    let slot = occasion.slot.description
    return [slot, "\(slot).\(occasion.fireDate.weekday)"].reduce(values) { values, name in
      bySlot[name].map(values.overlaid) ?? values
    }
  }
}
