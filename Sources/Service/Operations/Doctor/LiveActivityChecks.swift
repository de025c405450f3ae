internal import PushStore

/// Whether states of Live Activities can be made: a type with a fault refuses all of them.
enum ActivityTypeCheck {
  static let name = "activity types"

  static func judge(_ types: [ExaminedActivityType]) -> [CheckFinding] {
    let faults = types.compactMap { type in
      type.fault.map {
        CheckFinding(
          name, .failure, "\(type.name): \($0)",
          remedy: "correct its row of tacet.activity_types; db/README.md has the form")
      }
    }
    guard faults.isEmpty else { return faults }
    return [CheckFinding(name, .ok, types.isEmpty ? "none" : types.map(\.name).joined(separator: ", "))]
  }
}
