import Foundation

/// A zone in which it was noon when the tests began, so that none that is about somebody's day meets midnight. `Etc/GMT` zones have
/// no changes of their clocks.
package enum ZoneNearNoon {
  /// Its name in the tz database, one for the whole run: another an hour later could be on another day.
  package static let name = name(at: 12)

  /// The name of a zone in which this hour has begun.
  package static func name(at hour: Int) -> String {
    let difference = hour - Int(Date().timeIntervalSince1970) / 3600 % 24
    // There are fourteen zones east of Greenwich and twelve west of it.
    let east = difference < -12 ? difference + 24 : difference
    // The signs of these zones are those of POSIX: west is positive.
    return east == 0 ? "Etc/GMT" : east > 0 ? "Etc/GMT-\(east)" : "Etc/GMT+\(-east)"
  }
}
