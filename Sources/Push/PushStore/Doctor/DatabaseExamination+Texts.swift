package import Postgres
package import Reactors

/// A text of a watched kind in another locale.
package struct ExaminedText: Equatable, Sendable {
  package let kind: String
  package let locale: String
  package let isUnwatched: Bool
  /// A column in braces that the kind's own texts do not have; nil for none.
  package let missingColumn: String?

  package init(kind: String, locale: String, isUnwatched: Bool = false, missingColumn: String? = nil) {
    self.kind = kind
    self.locale = locale
    self.isUnwatched = isUnwatched
    self.missingColumn = missingColumn
  }
}

// Texts in other locales.
extension DatabaseExamination {
  /// The texts of watched kinds, by kind and locale; 3000 at most.
  package func texts(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedText] {
    try await rows(.examineTexts, on: reactor) { row throws(PostgresError) in
      ExaminedText(
        kind: try row.decode("kind"), locale: try row.decode("locale"), isUnwatched: try row.decode("is_unwatched"),
        missingColumn: try row.decode("missing_column"))
    }
  }
}
