/// What happens to a push that falls into its recipient's quiet hours.
public enum QuietHoursPolicy: String, CaseIterable, Sendable {
  /// It waits until they end, and is decided again then.
  case hold
  /// It is not sent at all; the app shows it when it is opened.
  case drop
}
