import Foundation
import Simulators
import Testing

@Suite("Row-level security that is forced upon the owner")
struct ForcedRowSecurityTests {
  /// Makes a role that may log in the owner of everything, and no exception from row-level security.
  private static func force(upon role: String) -> String {
    """
    create role \(role) login;
    do $$
    declare
      owned record;
    begin
      for owned in
        select c.oid::regclass as name, c.relkind
        from pg_class c
        where c.relnamespace in ('tacet'::regnamespace, 'public'::regnamespace) and c.relkind in ('r', 'v')
      loop
        execute format('alter table %s owner to \(role)', owned.name);
        if owned.relkind = 'r' then
          execute format('alter table %s force row level security', owned.name);
        end if;
      end loop;
      for owned in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = 'tacet'::regnamespace loop
        execute format('alter routine %s owner to \(role)', owned.name);
      end loop;
      alter schema tacet owner to \(role);
    end
    $$
    """
  }

  @Test("is told at the start and by the doctor, and gone when their remedy is followed")
  func told() async throws {
    var doctor = try await DoctorScene()
    let role = "owner_\(doctor.scene.database)"
    try await doctor.scene.sql(Self.force(upon: role))
    doctor.settings["DATABASE_URL"] = doctor.conninfo(as: role)
    let process = try ServiceProcess(["serve"], settings: doctor.settings)
    let warning = try await process.line(containing: "row-level security hides the service's own tables")
    #expect(warning.contains("tacet.grant_service"))
    let serving = try await process.line(containing: "serving")
    let address = try #require(serving.split(separator: " ").first { $0.hasPrefix("address=") }).dropFirst(8)

    let before = try await DoctorRun(doctor.settings)
    let rights = before.lines("FAIL").filter { $0.hasPrefix("FAIL  rights: ") }
    #expect(rights.contains { $0.contains("lacks policy on tacet.") && $0.contains("tacet.grant_service('\(role)')") })
    #expect(rights.contains { $0.contains("public.messages") && $0.contains("create policy") })
    #expect(before.exitCode == 1)

    try await doctor.scene.sql("select tacet.grant_service('\(role)')")
    let after = try await DoctorRun(doctor.settings)
    #expect(after.exitCode == 0 && after.lines("FAIL") == [], "\(after.text)")
    let service = RunningService(process: process, origin: "http://\(address)")
    #expect(try await service.readiness().status == 200)
    try await service.stop()
    await doctor.scene.simulator.stop()
  }
}
