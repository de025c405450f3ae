/// A half of the day on the twelve-hour clock.
public enum Meridiem: Hashable, Sendable {
  /// From midnight to noon.
  case anteMeridiem
  /// From noon to midnight.
  case postMeridiem
}
