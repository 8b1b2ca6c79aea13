import Foundation
import Sandbox
import TestSupport

/// Gives every mirror the past that the program learned for the first one.
///
/// All humans of a town have the same past but for names and ids, so that the rows of one mirror
/// are those of another with these replaced. The statements know no table: they follow from the
/// schema.
struct FleetPast: Sendable {
    /// What every mirror has for itself, from its import or its worker.
    private static let ownTables: Set = ["settings", "credentials", "leases", "workers"]

    let database: FleetDatabase
    let plan: TownPlan

    /// The name of the mirror of a household.
    static func mirror(_ household: Int) -> String { "m" + TownPerson.digits(household) }

    /// Copies the rows of the first mirror to all others.
    ///
    /// - Throws: ``TestSupportError`` with the server's message.
    func copy() async throws {
        guard plan.mirrors > 1 else { return }
        let columns = try await database.rows(
            """
            SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
            JOIN information_schema.tables USING (table_schema, table_name)
            WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1, ordinal_position
            """)
        for (table, columns) in Dictionary(grouping: columns, by: { $0[0] }).sorted(by: {
            $0.key < $1.key
        }) {
            guard columns.contains(where: { $0[1] == "mirror" }), !Self.ownTables.contains(table)
            else { continue }
            try await database.server.run(statement(table, columns), database: database.url)
        }
        try await database.server.run("ANALYZE", database: database.url)
    }

    private func statement(_ table: String, _ columns: [[String]]) -> String {
        let names = columns.map { "\"\($0[1])\"" }
        let values = columns.map { column in
            if column[1] == "mirror" { return "'m' || d" }
            let value = "t.\"\(column[1])\""
            return column[2] == "text" ? renamed(value) : value
        }
        let conflict: String
        if table == "mirrors" {
            // An import may have made the row already; what it did not say is taken over.
            let changes = columns.filter { $0[1] != "mirror" && $0[3] == "YES" }.map { column in
                "\"\(column[1])\" = COALESCE(mirrors.\"\(column[1])\", EXCLUDED.\"\(column[1])\")"
            }
            conflict = "(mirror) DO UPDATE SET " + changes.joined(separator: ", ")
        } else {
            conflict = "DO NOTHING"
        }
        return """
            INSERT INTO "\(table)" (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM "\(table)" AS t, (
                SELECT LPAD(n::text, 5, '0') AS d, LPAD((n % \(plan.hosts))::text, 3, '0') AS h
                FROM generate_series(1, \(plan.mirrors - 1)) AS n
            ) AS numbers
            WHERE t.mirror = '\(Self.mirror(0))' ON CONFLICT \(conflict)
            """
    }

    /// A text of the first household as one of another: the names of people, the server's domain,
    /// and ids.
    private func renamed(_ column: String) -> String {
        let replaced =
            "REPLACE(regexp_replace(\(column), '([hbfgixm]|[0-9]{13})00000', '\\1' || d, 'g'), "
            + "'s000.town', 's' || h || '.town')"
        return "CASE WHEN \(column) LIKE '%00000%' THEN \(replaced) ELSE \(column) END"
    }
}
