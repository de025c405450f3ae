/// A row of `tacet.pushes`.
struct StoredPush: Decodable {
  let title: String
  let body: String
  let data: PayloadObject?
  let presentation: StoredPresentation?

  var ledgerText: String { "\(title)\n\(body)" }

  private var shown: PushPresentation { presentation?.presentation ?? PushPresentation() }

  var localised: LocalisedTexts? { presentation?.presentation.localised }

  func inLocale(_ locale: LocaleTag) -> StoredPush {
    var (title, body) = (title, body)
    let presentation = shown.inLocale(locale, &title, &body)
    return StoredPush(
      title: title, body: body, data: data, presentation: StoredPresentation(presentation: presentation))
  }

  /// - Parameter channel: nil for its own.
  func push(
    about subject: PushSubject, over channel: PushPresentation.Channel? = nil
  ) throws(PushRequestError) -> PreparedPush {
    var shown = shown
    if let channel { shown.channel = channel }
    return try shown.push(title: title, body: body, thread: nil, custom: custom(about: subject), about: subject)
  }

  /// Whether APNs takes it uncut, with any badge.
  func isWhole(about subject: PushSubject) throws(PushRequestError) -> Bool {
    let custom = custom(about: subject)
    switch shown.channel {
    case .alert:
      let alert = try shown.alert(title: title, body: body, thread: nil, badge: .max, custom: custom)
      return alert.encoded().count <= PreparedPush.alertBytesMax
    case .fetch:
      return try BackgroundPayload(custom: custom).encoded().count <= PushType.background.bodyBytesMax
    }
  }

  private func custom(about subject: PushSubject) -> PayloadObject {
    var custom = data ?? [:]
    custom["type"] = .string(subject.kind)
    custom["subject_id"] = .string(subject.id.text)
    return custom
  }
}
