package import Postgres
package import Reactors

package struct ExaminedActivityType: Equatable, Sendable {
  /// The name of its attributes in Swift.
  package let name: String
  /// Why no document of it can be made; nil for a type without a fault.
  package let fault: String?

  package init(name: String, fault: String? = nil) {
    self.name = name
    self.fault = fault
  }
}

// Live Activities.
extension DatabaseExamination {
  /// The types of Live Activities, and what is wrong with them; 1000 at most.
  package func activityTypes(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedActivityType] {
    try await rows(.examineActivityTypes, on: reactor) { row throws(PostgresError) in
      ExaminedActivityType(name: try row.decode("name"), fault: try row.decode("fault"))
    }
  }
}
