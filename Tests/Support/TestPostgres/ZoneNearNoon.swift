import Foundation

/// A zone in which it is noon now or soon, so that no test about somebody's day meets midnight. `Etc/GMT` zones have no
/// changes of their clocks.
public enum ZoneNearNoon {
  /// Its name in the tz database.
  public static var name: String {
    let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
    let east = 12 - hour
    // The signs of these zones are those of POSIX: west is positive.
    return east == 0 ? "Etc/GMT" : east > 0 ? "Etc/GMT-\(east)" : "Etc/GMT+\(-east)"
  }
}
