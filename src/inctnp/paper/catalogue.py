"""Every table and figure that a command can make, in the order of the paper."""

from inctnp.paper.artefact import Artefact
from inctnp.paper.fig1_cost_of_a_stream import FIG1
from inctnp.paper.fig2_robustness import FIG2
from inctnp.paper.fig3_implicit_bayesianness import FIG3
from inctnp.paper.fig4_streaming_tables import FIG4
from inctnp.paper.fig5_streaming_prior import FIG5
from inctnp.paper.fig6_streaming_stations import FIG6
from inctnp.paper.fig10_robustness_gp import FIG10
from inctnp.paper.fig11_robustness_tabular import FIG11
from inctnp.paper.fig12_outliers import FIG12
from inctnp.paper.fig13_gradient_noise import FIG13
from inctnp.paper.fig14_tnp_a_runtime import FIG14
from inctnp.paper.fig15_implicit_bayesianness_sparse import FIG15
from inctnp.paper.fig16_streaming_prior_baselines import FIG16
from inctnp.paper.fig17_streaming_tables_baselines import FIG17
from inctnp.paper.fig18_streaming_stations_tnp_a import FIG18
from inctnp.paper.fig19_target_order import FIG19
from inctnp.paper.fig20_autoregressive_cost import FIG20
from inctnp.paper.fig21_memory import FIG21
from inctnp.paper.fig22_context_kl_gap import FIG22
from inctnp.paper.fig23_context_kl_gap_sparse import FIG23
from inctnp.paper.fig24_context_orders_gp import FIG24
from inctnp.paper.fig25_context_orders_tabular import FIG25
from inctnp.paper.fig26_greedy_order import FIG26
from inctnp.paper.fig27_drift_mixed import FIG27
from inctnp.paper.fig28_drift_rbf import FIG28
from inctnp.paper.table1_static import TABLE1
from inctnp.paper.table2_standard_errors import TABLE2
from inctnp.paper.table3_half_windows import TABLE3
from inctnp.paper.table4_step_cost import TABLE4
from inctnp.paper.table5_cumulative_cost import TABLE5
from inctnp.paper.table6_transient_memory import TABLE6
from inctnp.paper.table7_total_memory import TABLE7
from inctnp.paper.table8_order_averaging import TABLE8

_TABLES = (
    TABLE1,
    TABLE2,
    TABLE3,
    TABLE4,
    TABLE5,
    TABLE6,
    TABLE7,
    TABLE8,
)
_FIGURES = (
    FIG1,
    FIG2,
    FIG3,
    FIG4,
    FIG5,
    FIG6,
    FIG10,
    FIG11,
    FIG12,
    FIG13,
    FIG14,
    FIG15,
    FIG16,
    FIG17,
    FIG18,
    FIG19,
    FIG20,
    FIG21,
    FIG22,
    FIG23,
    FIG24,
    FIG25,
    FIG26,
    FIG27,
    FIG28,
)

ARTEFACTS: dict[str, Artefact] = {artefact.name: artefact for artefact in (*_TABLES, *_FIGURES)}
