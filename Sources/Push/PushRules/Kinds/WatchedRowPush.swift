/// A row of a host's table that `tacet.watch` turns into pushes: words that the database has made of it.
package struct WatchedRowPush: PushKind {
  package static let name = "watched_row"

  /// The first line, at most 4096 characters.
  package let title: String
  /// The text, at most 4096 characters; may be empty.
  package let body: String
  package let surface: SurfaceID
  package var presentation: PushPresentation = PushPresentation()

}

extension WatchedRowPush {
  private struct Document: Decodable {
    let title: String
    let body: String
    let surface_kind: String
    let surface_id: HostID
    let presentation: StoredPresentation?
    let values: [String: String?]?
  }

  /// Reads `title`, `body`, `surface_kind`, `surface_id` and `presentation`, and for texts in other locales `values`.
  package init(_ claimed: ClaimedContent) throws {
    let document: Document = try claimed.decode()
    var presentation = document.presentation?.presentation ?? PushPresentation()
    presentation.localised?.values = document.values?.compactMapValues { $0 }
    // Templates without their values say nothing.
    if document.values == nil { presentation.localised = nil }
    self.init(
      title: document.title, body: document.body,
      surface: SurfaceID(kind: document.surface_kind, id: document.surface_id), presentation: presentation)
  }

  package var surfaceID: HostID? { surface.id }

  package var isLocalised: Bool { presentation.localised != nil }

  package func choice(for locale: LocaleTag?) -> LocaleChoice? { presentation.localised?.choice(for: locale) }

  package func inLocale(_ locale: LocaleTag) -> WatchedRowPush {
    var (title, body) = (title, body)
    let presentation = presentation.inLocale(locale, &title, &body)
    return WatchedRowPush(title: title, body: body, surface: surface, presentation: presentation)
  }

  /// Its words on one line each, and the ids of row and surface.
  package func push(about subject: PushSubject) throws(PushRequestError) -> Push {
    let preview = NoticePreview(title: title, body: body)
    return try presentation.push(
      title: preview.title, body: preview.body, thread: surface.id.text,
      custom: [
        "type": .string(subject.kind), "subject_id": .string(subject.id.text),
        "surface_kind": .string(surface.kind), "surface_id": .string(surface.id.text),
      ], about: subject)
  }
}
