internal import FoundationEssentials
internal import Postgres

/// A column of JSON, read as a type.
struct ExplainedDocument<Content: Decodable>: PostgresDecodable {
  let content: Content

  init?(_ field: PostgresField) {
    guard let text = String(field), let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8)) else {
      return nil
    }
    self.content = content
  }
}
