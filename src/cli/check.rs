//! `check`: the examples of SPEC.md, the exhaustive search and random cases, on the built-in
//! session and manager.

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use session_surface::harness::campaign::{Plan, StageReport, run};
use session_surface::spec::Contract;

use super::exit::Exit;
use super::show;

/// Check the built-in session against the specification
///
/// Runs the examples of SPEC.md, every log of a few events over a small alphabet, random cases in a
/// well-formed and a hostile form, interrupted turns, and the laws. Each counterexample is made
/// small; a case is saved, a log that breaks a law is printed.
#[derive(Args)]
#[command(after_help = "Examples:
  session-surface check
  session-surface check --cases 1000000 --seed 7
  session-surface check --exhaustive 7 --cases 0")]
pub struct Check {
    /// Random cases of each form
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    cases: u64,
    /// What the random cases depend on
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The most events of the exhaustive search, 0 to leave it out
    #[arg(long, default_value_t = 6, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=8))]
    exhaustive: u32,
    /// The contract to check by
    #[arg(long, default_value = "adr-0019", value_name = "NAME", value_parser = super::contract)]
    contract: Contract,
    /// Threads that work [default: one a core]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Where counterexamples are saved
    #[arg(long, default_value = "counterexamples", value_name = "DIR")]
    save: PathBuf,
}

impl Check {
    /// Runs the stages and shows one table.
    pub fn run(self) -> Exit {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let plan = Plan {
            contract: self.contract,
            cases: self.cases,
            seed: self.seed,
            exhaustive: self.exhaustive,
            workers: self.workers.unwrap_or_else(cores).get(),
        };
        let bar = progress();
        let reports = run(&plan, &|stage, done, total| {
            bar.set_message(match total {
                Some(total) => format!("{stage}: {done} of {total} cases"),
                None => format!("{stage}: {done} cases"),
            });
            bar.tick();
        });
        bar.finish_and_clear();
        self.report(&reports)
    }

    fn report(&self, reports: &[StageReport]) -> Exit {
        println!(
            "session-surface {}, contract {}, seed {}",
            env!("CARGO_PKG_VERSION"),
            self.contract.name,
            self.seed
        );
        println!("{}", table(reports));
        for report in reports {
            for fault in &report.faults {
                println!("\n{}: {fault}", report.name);
            }
            for found in &report.found {
                println!("\n{}", show::found(found));
                match save(&self.save, found.subject, &found.case.name, &found.case.to_json()) {
                    Ok(path) => println!("  replay: session-surface replay {}", path.display()),
                    Err(error) => println!("  not saved in {}: {error}", self.save.display()),
                }
            }
        }
        if reports.iter().all(StageReport::is_clean) { Exit::Clean } else { Exit::Findings }
    }
}

/// A line on a terminal, nothing when piped.
fn progress() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn table(reports: &[StageReport]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["stage", "cases", "time", "a second", "verdict"]);
    for report in reports {
        let rate = report.cases as f64 / report.took.max(Duration::from_micros(1)).as_secs_f64();
        let verdict = match (report.found.len(), report.faults.len()) {
            (0, 0) => "pass".to_owned(),
            (0, 1) => "1 fault".to_owned(),
            (0, faults) => format!("{faults} faults"),
            (found, _) => format!("{found} found"),
        };
        table.add_row([
            report.name.to_owned(),
            report.cases.to_string(),
            format!("{:.2} s", report.took.as_secs_f64()),
            format!("{rate:.0}"),
            verdict,
        ]);
    }
    table
}

/// Saves a counterexample under a name that depends on what it holds.
fn save(folder: &Path, subject: &str, name: &str, json: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let hash = json.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let name = name.rsplit('/').next().unwrap_or(name);
    let path = folder.join(format!("{subject}-{name}-{:08x}.json", hash as u32));
    std::fs::write(&path, json)?;
    Ok(path)
}
